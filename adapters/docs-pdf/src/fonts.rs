//! Fonts for typesetting: [`Fonts`].

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, LazyLock},
};

use parley::{
    FontFamilyName, GenericFamily,
    fontique::{Blob, Collection, CollectionOptions},
};
use usvg::fontdb;

use crate::termination::{LayoutResult, LayoutStop};

/// Built-in fonts, and fonts added by the embedding application.
///
/// The built-in fonts are Libertinus Serif for text, DejaVu Sans Mono for code, New Computer Modern for mathematical
/// symbols, and Noto Emoji (monochrome). They cover the Latin, Greek, Cyrillic and Hebrew scripts, and Arabic through
/// DejaVu Sans Mono. Other scripts, such as Chinese, Japanese, Korean and Indic scripts, need a font added with
/// [`Fonts::with_font`] or [`Fonts::folder`]. Without one, their characters are rendered as empty boxes.
#[derive(Clone)]
pub struct Fonts {
    /// Fonts for the text of books.
    pub(crate) collection: Collection,
    /// Fonts for text in drawings.
    pub(crate) drawings: Arc<fontdb::Database>,
    /// Added font families in order.
    more: Vec<FontFamilyName<'static>>,
}

impl std::fmt::Debug for Fonts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fonts").field("fonts", &self.drawings.len()).finish_non_exhaustive()
    }
}

pub(crate) const SERIF: &str = "Libertinus Serif";
const MONO: &str = "DejaVu Sans Mono";
const SIGNS: &str = "NewComputerModern Math";
const EMOJI: &str = "Noto Emoji";
/// The embedded fonts, selected by `build.rs`.
const FILES: [&[u8]; 12] = [
    include_bytes!(concat!(env!("OUT_DIR"), "/serif-regular")),
    include_bytes!(concat!(env!("OUT_DIR"), "/serif-bold")),
    include_bytes!(concat!(env!("OUT_DIR"), "/serif-italic")),
    include_bytes!(concat!(env!("OUT_DIR"), "/serif-bold-italic")),
    include_bytes!(concat!(env!("OUT_DIR"), "/serif-semibold")),
    include_bytes!(concat!(env!("OUT_DIR"), "/serif-semibold-italic")),
    include_bytes!(concat!(env!("OUT_DIR"), "/mono-regular")),
    include_bytes!(concat!(env!("OUT_DIR"), "/mono-bold")),
    include_bytes!(concat!(env!("OUT_DIR"), "/mono-italic")),
    include_bytes!(concat!(env!("OUT_DIR"), "/mono-bold-italic")),
    include_bytes!(concat!(env!("OUT_DIR"), "/signs-regular")),
    include_bytes!(concat!(env!("OUT_DIR"), "/signs-bold")),
];

static BUNDLED: LazyLock<Fonts> = LazyLock::new(|| {
    let options = CollectionOptions { shared: false, system_fonts: false };
    let mut drawings = fontdb::Database::new();
    drawings.set_serif_family(SERIF);
    drawings.set_sans_serif_family(SERIF);
    drawings.set_cursive_family(SERIF);
    drawings.set_fantasy_family(SERIF);
    drawings.set_monospace_family(MONO);
    let mut fonts =
        Fonts { collection: Collection::new(options), drawings: Arc::new(drawings), more: Vec::new() };
    for file in FILES {
        fonts.add(Arc::new(file));
    }
    fonts.add(Arc::new(epaint_default_fonts::NOTO_EMOJI_REGULAR));
    let emoji = fonts.collection.family_id(EMOJI);
    fonts.collection.set_generic_families(GenericFamily::Emoji, emoji.into_iter());
    fonts.more.clear();
    fonts
});

impl Default for Fonts {
    fn default() -> Self {
        BUNDLED.clone()
    }
}

impl Fonts {
    /// Adds the fonts in a file. Returns their number.
    fn add(&mut self, file: Arc<dyn AsRef<[u8]> + Send + Sync>) -> usize {
        let added = self.collection.register_fonts(Blob::new(Arc::clone(&file)), None);
        let ids: Vec<_> = added.iter().map(|(id, _)| *id).collect();
        for id in ids {
            if let Some(name) = self.collection.family_name(id).map(str::to_owned) {
                let name = FontFamilyName::Named(name.into());
                if !self.more.contains(&name) {
                    self.more.push(name);
                }
            }
        }
        Arc::make_mut(&mut self.drawings).load_font_source(fontdb::Source::Binary(file));
        added.iter().map(|(_, fonts)| fonts.len()).sum()
    }

    /// Adds the fonts in a TrueType or OpenType file, which contains one font or a collection. They are used for
    /// characters that the other fonts lack.
    ///
    /// # Errors
    /// [`NoFont`] if the file contains no font.
    pub fn with_font(mut self, file: Vec<u8>) -> Result<Self, NoFont> {
        if self.add(Arc::new(file)) == 0 { Err(NoFont) } else { Ok(self) }
    }

    /// Adds the fonts in all files of a folder with the extension `.ttf`, `.otf`, `.ttc` or `.otc`, ordered by file
    /// name.
    ///
    /// # Errors
    /// If the folder or a file cannot be read, or if a file contains no font.
    pub fn folder(mut self, folder: &Path) -> std::io::Result<Self> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let kind = path.extension().map(|kind| kind.to_string_lossy().to_ascii_lowercase());
            if kind.is_some_and(|kind| ["ttf", "otf", "ttc", "otc"].contains(&kind.as_str())) {
                files.push(path);
            }
        }
        files.sort();
        for path in files {
            let named = |e: NoFont| std::io::Error::other(format!("{}: {e}", path.display()));
            self = self.with_font(std::fs::read(&path)?).map_err(named)?;
        }
        Ok(self)
    }

    /// Returns the font families for text, in fallback order.
    pub(crate) fn text(&self) -> Vec<FontFamilyName<'static>> {
        self.order([SERIF, EMOJI], [MONO, SIGNS])
    }

    /// Returns the font families for code, in fallback order.
    pub(crate) fn code(&self) -> Vec<FontFamilyName<'static>> {
        self.order([MONO, EMOJI], [SERIF, SIGNS])
    }

    fn order(&self, first: [&'static str; 2], last: [&'static str; 2]) -> Vec<FontFamilyName<'static>> {
        let named = |name: &'static str| FontFamilyName::Named(name.into());
        first.map(named).into_iter().chain(self.more.iter().cloned()).chain(last.map(named)).collect()
    }
}

/// The error for a file without a readable font.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the file contains no TrueType or OpenType font")]
pub struct NoFont;

/// Fonts used in a book, in the form that the PDF writer requires.
#[derive(Default)]
pub(crate) struct BookFonts {
    known: HashMap<(u64, u32), u16>,
    all: Vec<krilla::text::Font>,
}

impl BookFonts {
    /// Returns the number of a font, which is registered on first use.
    ///
    /// # Errors
    /// [`LayoutStop::Failed`] if the font cannot be embedded.
    pub(crate) fn number(&mut self, font: &parley::FontData) -> LayoutResult<u16> {
        let key = (font.data.id(), font.index);
        if let Some(number) = self.known.get(&key) {
            return Ok(*number);
        }
        let (data, _) = font.data.clone().into_raw_parts();
        let number = self.push(data.into(), font.index)?;
        self.known.insert(key, number);
        Ok(number)
    }

    /// Registers a font that was not selected by text shaping.
    ///
    /// # Errors
    /// [`LayoutStop::Failed`] if the font cannot be embedded.
    pub(crate) fn push(&mut self, data: krilla::Data, index: u32) -> LayoutResult<u16> {
        let font = krilla::text::Font::new(data, index);
        let font = font.ok_or_else(|| LayoutStop::Failed("failed to embed a font".to_owned()))?;
        let number =
            u16::try_from(self.all.len()).map_err(|_| LayoutStop::Failed("too many fonts".to_owned()))?;
        self.all.push(font);
        Ok(number)
    }

    pub(crate) fn get(&self, number: u16) -> Option<&krilla::text::Font> {
        self.all.get(usize::from(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_font_families_are_available() {
        let mut fonts = Fonts::default();
        for family in [SERIF, MONO, SIGNS, EMOJI] {
            assert!(fonts.collection.family_id(family).is_some(), "{family}");
        }
    }

    #[test]
    fn invalid_font_file_is_refused() {
        assert_eq!(Fonts::default().with_font(b"no font".to_vec()).map(|_| ()), Err(NoFont));
    }

    #[test]
    fn custom_font_is_added() {
        let file = FILES[0].to_vec();
        let before = Fonts::default();
        let after = before.clone().with_font(file).expect("a font");
        assert!(after.drawings.len() > before.drawings.len());
        assert!(after.text().len() > before.text().len() || after.more.len() == 1);
    }
}
