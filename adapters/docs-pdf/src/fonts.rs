//! The fonts that type is set in: [`Fonts`].

use std::{path::Path, sync::LazyLock};

use typst::{
    foundations::Bytes,
    text::{Font, FontBook},
    utils::LazyHash,
};

/// Fonts: those that are always there, and those of the host.
///
/// Always there are Libertinus Serif for text, DejaVu Sans Mono for code, New Computer Modern for formulas and Noto
/// Emoji, in black and white. Together they have the letters of Latin, Greek, Cyrillic and Hebrew scripts, and for
/// Arabic those of DejaVu Sans Mono. For Chinese, Japanese, Korean, the scripts of India and others a host adds a font
/// with [`Fonts::with`] or [`Fonts::folder`]; without one their characters are empty boxes.
#[derive(Clone)]
pub struct Fonts {
    pub(crate) fonts: Vec<Font>,
    pub(crate) book: LazyHash<FontBook>,
}

impl std::fmt::Debug for Fonts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fonts").field("fonts", &self.fonts.len()).finish_non_exhaustive()
    }
}

/// Of the fonts compiled in, those that the template names.
const FAMILIES: [&str; 3] = ["Libertinus Serif", "DejaVu Sans Mono", "New Computer Modern Math"];

static BUNDLED: LazyLock<Fonts> = LazyLock::new(|| {
    let assets = typst_assets::fonts().flat_map(|bytes| Font::iter(Bytes::new(bytes)));
    let mut fonts: Vec<Font> =
        assets.filter(|font| FAMILIES.contains(&font.info().family.as_str())).collect();
    fonts.extend(Font::iter(Bytes::new(epaint_default_fonts::NOTO_EMOJI_REGULAR)));
    Fonts::of(fonts)
});

impl Default for Fonts {
    fn default() -> Self {
        BUNDLED.clone()
    }
}

impl Fonts {
    fn of(fonts: Vec<Font>) -> Self {
        Self { book: LazyHash::new(FontBook::from_fonts(&fonts)), fonts }
    }

    /// The same and the fonts of a file: TrueType or OpenType, one font or a collection. They serve for characters
    /// that the others do not have.
    ///
    /// # Errors
    /// [`NoFont`] when there is none in it.
    pub fn with(self, file: Vec<u8>) -> Result<Self, NoFont> {
        let mut fonts = self.fonts;
        let before = fonts.len();
        fonts.extend(Font::iter(Bytes::new(file)));
        if fonts.len() == before { Err(NoFont) } else { Ok(Self::of(fonts)) }
    }

    /// The same and the fonts of all files of a folder that end in `.ttf`, `.otf`, `.ttc` or `.otc`, in the order of
    /// their names.
    ///
    /// # Errors
    /// When the folder or a file of it cannot be read, or a file holds no font.
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
            self = self.with(std::fs::read(&path)?).map_err(named)?;
        }
        Ok(self)
    }
}

/// A file holds no font that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no TrueType or OpenType font in it")]
pub struct NoFont;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fonts_that_the_template_names_are_there() {
        let fonts = Fonts::default();
        for family in FAMILIES.iter().chain(&["Noto Emoji"]) {
            assert!(fonts.book.contains_family(&family.to_lowercase()), "{family}");
        }
    }

    #[test]
    fn a_file_that_is_no_font_is_refused() {
        assert_eq!(Fonts::default().with(b"no font".to_vec()).map(|_| ()), Err(NoFont));
    }

    #[test]
    fn a_font_of_the_host_is_added() {
        let file = typst_assets::fonts().next().expect("a font").to_vec();
        let before = Fonts::default();
        let after = before.clone().with(file).expect("a font");
        assert!(after.fonts.len() > before.fonts.len());
    }
}
