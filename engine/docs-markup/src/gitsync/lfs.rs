//! Git LFS pointers: small files that represent content stored elsewhere by the host.

/// Maximum size of a pointer in bytes, as defined by the Git LFS specification.
pub const MAX_POINTER_BYTES: u64 = 1_024;

/// A Git LFS pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LfsPointer {
    /// The SHA-256 hash of the content, in hexadecimal.
    pub oid: String,
    /// The size of the content in bytes.
    pub size: u64,
}

impl LfsPointer {
    /// Parses the bytes of a file. Returns `None` if it is not a pointer.
    ///
    /// # Example
    /// ```
    /// use docs_markup::gitsync::LfsPointer;
    ///
    /// let hash = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
    /// let text = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{hash}\nsize 12345\n");
    /// assert_eq!(LfsPointer::parse(text.as_bytes()).map(|pointer| pointer.size), Some(12345));
    /// ```
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.len() as u64 > MAX_POINTER_BYTES {
            return None;
        }
        let mut lines = std::str::from_utf8(bytes).ok()?.lines();
        let version = lines.next()?.strip_prefix("version ")?;
        if !matches!(version, "https://git-lfs.github.com/spec/v1" | "https://hawser.github.com/spec/v1") {
            return None;
        }
        let (mut oid, mut size) = (None, None);
        for line in lines {
            match line.split_once(' ')? {
                ("oid", value) => oid = value.strip_prefix("sha256:"),
                ("size", value) => size = value.parse().ok(),
                _ => {}
            }
        }
        let is_hash = |oid: &&str| oid.len() == 64 && oid.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Self { oid: oid.filter(is_hash)?.to_owned(), size: size? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_pointers_are_recognized() {
        let hash = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
        let version = "version https://git-lfs.github.com/spec/v1";
        let parse = |text: String| LfsPointer::parse(text.as_bytes());
        let found = Some(LfsPointer { oid: hash.to_owned(), size: 5 });
        assert_eq!(parse(format!("{version}\noid sha256:{hash}\nsize 5\n")), found);
        assert_eq!(parse(format!("{version}\next-0-x sha256:{hash}\noid sha256:{hash}\r\nsize 5")), found);
        for text in [
            format!("{version}\n"),
            format!("{version}\noid sha256:{hash}\n"),
            format!("{version}\noid sha256:{hash}0\nsize 5\n"),
            format!("{version}\noid md5:{hash}\nsize 5\n"),
            format!("{version}\noid sha256:{hash}\nsize -5\n"),
            format!("{version}0\noid sha256:{hash}\nsize 5\n"),
            format!("# A page\n{version}\noid sha256:{hash}\nsize 5\n"),
            format!("{version}\noid sha256:{hash}\nsize 5\n{}", "x y\n".repeat(300)),
        ] {
            assert_eq!(parse(text.clone()), None, "{text}");
        }
        assert_eq!(LfsPointer::parse(b"\xff"), None);
    }
}
