//! The languages whose inflections a search finds. English is always one of them, because its terms occur in texts of
//! all languages.

use std::sync::Arc;

use crate::{
    Result,
    model::{Locale, SiteId, SpaceId},
    platform::sites::settings::customization::customizations,
    ports::search::Language,
    store::{Entity as _, Tx, records::TranslationRecord},
};

/// Returns the languages of a space. A space has a language of its own if it is the target of a translation.
pub(super) async fn of_space(tx: &Tx, space: &SpaceId) -> Result<Vec<Language>> {
    let rows = tx.scan_prefix(&TranslationRecord::by_target(space), 1).await?;
    let found: Vec<Option<Arc<TranslationRecord>>> =
        tx.get_many(&TranslationRecord::named_by_all(&rows)).await?;
    let language = found.into_iter().flatten().next();
    Ok(with_english(language.and_then(|record| Language::from_code(record.language.as_str()))))
}

/// Returns the languages of a site, from the locale of its user interface.
pub(super) async fn of_site(tx: &Tx, site: &SiteId) -> Result<Vec<Language>> {
    let look = customizations(tx, site, []).await?;
    let code = match look.site.internationalization.locale {
        Locale::En => "en",
        Locale::Fr => "fr",
        Locale::Es => "es",
        Locale::Zh => "zh",
        Locale::Ja => "ja",
        Locale::De => "de",
        Locale::Nl => "nl",
        Locale::No => "no",
        Locale::PtBr => "pt-br",
        Locale::Ru => "ru",
    };
    Ok(with_english(Language::from_code(code)))
}

fn with_english(language: Option<Language>) -> Vec<Language> {
    let other = language.filter(|language| *language != Language::English);
    std::iter::once(Language::English).chain(other).collect()
}
