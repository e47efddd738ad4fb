//! The fonts that type is set in: [`Fonts`].

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

use crate::stop::{Done, Stop};

/// Fonts: those that are always there, and those of the host.
///
/// Always there are Libertinus Serif for text, DejaVu Sans Mono for code, New Computer Modern for signs of mathematics
/// and Noto Emoji, in black and white. Together they have the letters of Latin, Greek, Cyrillic and Hebrew scripts, and
/// for Arabic those of DejaVu Sans Mono. For Chinese, Japanese, Korean, the scripts of India and others a host adds a
/// font with [`Fonts::with`] or [`Fonts::folder`]; without one their characters are empty boxes.
#[derive(Clone)]
pub struct Fonts {
    /// For text of books.
    pub(crate) collection: Collection,
    /// For text of drawings.
    pub(crate) drawings: Arc<fontdb::Database>,
    /// The families of the host, in the order in which they came.
    more: Vec<FontFamilyName<'static>>,
}

impl std::fmt::Debug for Fonts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fonts").field("fonts", &self.drawings.len()).finish_non_exhaustive()
    }
}

const SERIF: &str = "Libertinus Serif";
const MONO: &str = "DejaVu Sans Mono";
const SIGNS: &str = "NewComputerModern Math";
const EMOJI: &str = "Noto Emoji";
/// The fonts compiled in, as `build.rs` chooses them.
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
    /// Adds the fonts of a file; answers how many there are.
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

    /// The same and the fonts of a file: TrueType or OpenType, one font or a collection. They serve for characters
    /// that the others do not have.
    ///
    /// # Errors
    /// [`NoFont`] when there is none in it.
    pub fn with(mut self, file: Vec<u8>) -> Result<Self, NoFont> {
        if self.add(Arc::new(file)) == 0 { Err(NoFont) } else { Ok(self) }
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

    /// The families for text, in the order in which they are asked for a character.
    pub(crate) fn text(&self) -> Vec<FontFamilyName<'static>> {
        self.order([SERIF, EMOJI], [MONO, SIGNS])
    }

    /// The families for code.
    pub(crate) fn code(&self) -> Vec<FontFamilyName<'static>> {
        self.order([MONO, EMOJI], [SERIF, SIGNS])
    }

    fn order(&self, first: [&'static str; 2], last: [&'static str; 2]) -> Vec<FontFamilyName<'static>> {
        let named = |name: &'static str| FontFamilyName::Named(name.into());
        first.map(named).into_iter().chain(self.more.iter().cloned()).chain(last.map(named)).collect()
    }
}

/// A file holds no font that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no TrueType or OpenType font in it")]
pub struct NoFont;

/// The fonts that a book uses, as they are written.
#[derive(Default)]
pub(crate) struct Faces {
    known: HashMap<(u64, u32), u16>,
    all: Vec<krilla::text::Font>,
}

impl Faces {
    /// The number of a font.
    ///
    /// # Errors
    /// [`Stop::Failed`] when it cannot be written.
    pub(crate) fn number(&mut self, font: &parley::FontData) -> Done<u16> {
        let key = (font.data.id(), font.index);
        if let Some(number) = self.known.get(&key) {
            return Ok(*number);
        }
        let (data, _) = font.data.clone().into_raw_parts();
        let number = self.push(data.into(), font.index)?;
        self.known.insert(key, number);
        Ok(number)
    }

    /// Adds a font that is not among those for text.
    ///
    /// # Errors
    /// [`Stop::Failed`] when it cannot be written.
    pub(crate) fn push(&mut self, data: krilla::Data, index: u32) -> Done<u16> {
        let font = krilla::text::Font::new(data, index);
        let font = font.ok_or_else(|| Stop::Failed("a font cannot be written".to_owned()))?;
        let number = u16::try_from(self.all.len()).map_err(|_| Stop::Failed("too many fonts".to_owned()))?;
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
    fn the_fonts_that_books_are_set_in_are_there() {
        let mut fonts = Fonts::default();
        for family in [SERIF, MONO, SIGNS, EMOJI] {
            assert!(fonts.collection.family_id(family).is_some(), "{family}");
        }
    }

    #[test]
    fn a_file_that_is_no_font_is_refused() {
        assert_eq!(Fonts::default().with(b"no font".to_vec()).map(|_| ()), Err(NoFont));
    }

    #[test]
    fn a_font_of_the_host_is_added() {
        let file = FILES[0].to_vec();
        let before = Fonts::default();
        let after = before.clone().with(file).expect("a font");
        assert!(after.drawings.len() > before.drawings.len());
        assert!(after.text().len() > before.text().len() || after.more.len() == 1);
    }
}
