//! Localized interface strings of pages.

mod api;

use docs_core::model::Locale;

pub(crate) use self::api::ApiWords;

/// The interface strings of one language.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// The HTML language code.
    pub(crate) language: &'static str,
    pub(crate) search: &'static str,
    pub(crate) nothing_found: &'static str,
    pub(crate) on_this_page: &'static str,
    pub(crate) previous: &'static str,
    pub(crate) next: &'static str,
    pub(crate) last_updated: &'static str,
    pub(crate) edit: &'static str,
    pub(crate) as_markdown: &'static str,
    pub(crate) menu: &'static str,
    pub(crate) theme: &'static str,
    pub(crate) copy: &'static str,
    pub(crate) copied: &'static str,
    pub(crate) skip: &'static str,
    pub(crate) not_found: &'static str,
    pub(crate) not_found_why: &'static str,
    pub(crate) home: &'static str,
    pub(crate) privacy: &'static str,
    pub(crate) open: &'static str,
    pub(crate) link_here: &'static str,
    pub(crate) info: &'static str,
    pub(crate) warning: &'static str,
    pub(crate) danger: &'static str,
    pub(crate) success: &'static str,
    pub(crate) no_content: &'static str,
    pub(crate) not_now: &'static str,
    pub(crate) all_pages: &'static str,
    pub(crate) api: ApiWords,
}

macro_rules! words {
    ($($name:ident = [$($word:literal),* $(,)?]);* $(;)?) => {$(const $name: Words = words!(@ $name, $($word),*);)*};
    (@ $name:ident, $language:literal, $search:literal, $nothing_found:literal, $on_this_page:literal, $previous:literal,
       $next:literal, $last_updated:literal, $edit:literal, $as_markdown:literal, $menu:literal, $theme:literal,
       $copy:literal, $copied:literal, $skip:literal, $not_found:literal, $not_found_why:literal, $home:literal,
       $privacy:literal, $open:literal, $link_here:literal, $info:literal, $warning:literal, $danger:literal,
       $success:literal, $no_content:literal, $not_now:literal, $all_pages:literal) => {
        Words {
            language: $language, search: $search, nothing_found: $nothing_found, on_this_page: $on_this_page,
            previous: $previous, next: $next, last_updated: $last_updated, edit: $edit,
            as_markdown: $as_markdown, menu: $menu, theme: $theme, copy: $copy, copied: $copied, skip: $skip,
            not_found: $not_found, not_found_why: $not_found_why, home: $home, privacy: $privacy, open: $open,
            link_here: $link_here, info: $info, warning: $warning, danger: $danger, success: $success,
            no_content: $no_content, not_now: $not_now, all_pages: $all_pages,
            api: api::$name,
        }
    };
}

words! {
    EN = ["en", "Search", "No results found.", "On this page", "Previous", "Next", "Last updated", "Edit this page",
        "View as Markdown", "Menu", "Light or dark", "Copy", "Copied", "Skip to content", "Page not found",
        "This page does not exist, or you do not have access to it.", "Go to the first page", "Privacy", "Open",
        "Link to this heading", "Note", "Warning", "Danger", "Success", "This page has no content yet.",
        "Search is not ready yet. Try again in a moment.", "All pages"];
    FR = ["fr", "Rechercher", "Aucun résultat.", "Sur cette page", "Précédent", "Suivant", "Dernière mise à jour",
        "Modifier cette page", "Voir en Markdown", "Menu", "Clair ou sombre", "Copier", "Copié", "Aller au contenu",
        "Page introuvable", "Aucune page à cette adresse, ou elle ne vous est pas destinée.",
        "Vers la première page", "Confidentialité", "Ouvrir", "Lien vers ce titre", "Note", "Avertissement", "Danger",
        "Succès", "Cette page est encore vide.", "La recherche n’est pas encore prête. Réessayez dans un instant.", "Toutes les pages"];
    ES = ["es", "Buscar", "No se encontró nada.", "En esta página", "Anterior", "Siguiente", "Última actualización",
        "Editar esta página", "Ver como Markdown", "Menú", "Claro u oscuro", "Copiar", "Copiado", "Ir al contenido",
        "Página no encontrada", "No hay ninguna página en esta dirección, o no es para usted.",
        "A la primera página", "Privacidad", "Abrir", "Enlace a este título", "Nota", "Advertencia", "Peligro",
        "Éxito", "Esta página aún no tiene contenido.", "La búsqueda aún no está lista. Inténtelo en un momento.", "Todas las páginas"];
    ZH = ["zh", "搜索", "未找到任何内容。", "本页内容", "上一页", "下一页", "最后更新", "编辑此页", "查看 Markdown", "菜单",
        "浅色或深色", "复制", "已复制", "跳到内容", "页面未找到", "此地址没有页面，或您无权查看。", "前往首页", "隐私",
        "打开", "链接到此标题", "提示", "警告", "危险", "成功", "此页面还没有内容。", "搜索尚未就绪，请稍后再试。", "所有页面"];
    JA = ["ja", "検索", "何も見つかりませんでした。", "このページの内容", "前へ", "次へ", "最終更新", "このページを編集",
        "Markdown で表示", "メニュー", "ライトまたはダーク", "コピー", "コピーしました", "本文へ移動", "ページが見つかりません",
        "このアドレスにページがないか、閲覧できません。", "最初のページへ", "プライバシー", "開く", "この見出しへのリンク",
        "メモ", "警告", "危険", "成功", "このページにはまだ内容がありません。", "検索の準備ができていません。しばらくしてからお試しください。", "すべてのページ"];
    DE = ["de", "Suchen", "Nichts gefunden.", "Auf dieser Seite", "Zurück", "Weiter", "Zuletzt geändert",
        "Diese Seite bearbeiten", "Als Markdown ansehen", "Menü", "Hell oder dunkel", "Kopieren", "Kopiert",
        "Zum Inhalt", "Seite nicht gefunden", "Unter dieser Adresse gibt es keine Seite, oder sie ist nicht für Sie.",
        "Zur ersten Seite", "Datenschutz", "Öffnen", "Link zu dieser Überschrift", "Hinweis", "Warnung", "Gefahr",
        "Erfolg", "Diese Seite hat noch keinen Inhalt.",
        "Die Suche ist noch nicht bereit. Versuchen Sie es gleich noch einmal.", "Alle Seiten"];
    NL = ["nl", "Zoeken", "Niets gevonden.", "Op deze pagina", "Vorige", "Volgende", "Laatst bijgewerkt",
        "Deze pagina bewerken", "Als Markdown bekijken", "Menu", "Licht of donker", "Kopiëren", "Gekopieerd",
        "Naar de inhoud", "Pagina niet gevonden", "Er is geen pagina op dit adres, of ze is niet voor u.",
        "Naar de eerste pagina", "Privacy", "Openen", "Link naar deze kop", "Opmerking", "Waarschuwing", "Gevaar",
        "Gelukt", "Deze pagina heeft nog geen inhoud.", "Zoeken is nog niet gereed. Probeer het zo opnieuw.", "Alle pagina’s"];
    NO = ["no", "Søk", "Ingenting ble funnet.", "På denne siden", "Forrige", "Neste", "Sist oppdatert",
        "Rediger denne siden", "Vis som Markdown", "Meny", "Lys eller mørk", "Kopier", "Kopiert", "Gå til innholdet",
        "Siden ble ikke funnet", "Det finnes ingen side på denne adressen, eller den er ikke for deg.",
        "Til første side", "Personvern", "Åpne", "Lenke til denne overskriften", "Merknad", "Advarsel", "Fare",
        "Vellykket", "Denne siden har ikke noe innhold ennå.", "Søket er ikke klart ennå. Prøv igjen om litt.", "Alle sider"];
    PT_BR = ["pt-BR", "Pesquisar", "Nada foi encontrado.", "Nesta página", "Anterior", "Próxima",
        "Última atualização", "Editar esta página", "Ver como Markdown", "Menu", "Claro ou escuro", "Copiar",
        "Copiado", "Ir para o conteúdo", "Página não encontrada",
        "Não há página neste endereço, ou ela não é para você.", "Para a primeira página", "Privacidade", "Abrir",
        "Link para este título", "Nota", "Aviso", "Perigo", "Sucesso", "Esta página ainda não tem conteúdo.",
        "A pesquisa ainda não está pronta. Tente novamente em instantes.", "Todas as páginas"];
    RU = ["ru", "Поиск", "Ничего не найдено.", "На этой странице", "Назад", "Далее", "Последнее обновление",
        "Редактировать страницу", "Показать как Markdown", "Меню", "Светлая или тёмная", "Копировать", "Скопировано",
        "К содержанию", "Страница не найдена", "По этому адресу нет страницы, или она не для вас.",
        "К первой странице", "Конфиденциальность", "Открыть", "Ссылка на этот заголовок", "Примечание",
        "Предупреждение", "Опасность", "Успешно", "На этой странице пока ничего нет.",
        "Поиск ещё не готов. Попробуйте чуть позже.", "Все страницы"];
}

impl Words {
    /// Returns the interface strings of a language.
    pub(crate) const fn for_locale(locale: Locale) -> &'static Self {
        match locale {
            Locale::En => &EN,
            Locale::Fr => &FR,
            Locale::Es => &ES,
            Locale::Zh => &ZH,
            Locale::Ja => &JA,
            Locale::De => &DE,
            Locale::Nl => &NL,
            Locale::No => &NO,
            Locale::PtBr => &PT_BR,
            Locale::Ru => &RU,
        }
    }
}
