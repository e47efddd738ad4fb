//! Extracts the fonts for books to `OUT_DIR`, where the library embeds them. Other fonts of the font package are left
//! out, because every program would contain them.

use std::{env, fs, path::PathBuf};

/// The embedded faces: PostScript name and file name.
const FACES: [(&str, &str); 12] = [
    ("LibertinusSerif-Regular", "serif-regular"),
    ("LibertinusSerif-Bold", "serif-bold"),
    ("LibertinusSerif-Italic", "serif-italic"),
    ("LibertinusSerif-BoldItalic", "serif-bold-italic"),
    // Font weights used by drawings.
    ("LibertinusSerif-Semibold", "serif-semibold"),
    ("LibertinusSerif-SemiboldItalic", "serif-semibold-italic"),
    ("DejaVuSansMono", "mono-regular"),
    ("DejaVuSansMono-Bold", "mono-bold"),
    ("DejaVuSansMono-Oblique", "mono-italic"),
    ("DejaVuSansMono-BoldOblique", "mono-bold-italic"),
    ("NewCMMath-Regular", "signs-regular"),
    ("NewCMMath-Bold", "signs-bold"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut found = 0;
    for file in typst_assets::fonts() {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(file.to_vec());
        let face = fonts.faces().next().expect("a file of the package holds a font");
        if let Some((_, name)) = FACES.iter().find(|(face_name, _)| *face_name == face.post_script_name) {
            fs::write(folder.join(name), file).expect("OUT_DIR can be written to");
            found += 1;
        }
    }
    assert_eq!(found, FACES.len(), "the package of fonts has not all of {FACES:?}");
}
