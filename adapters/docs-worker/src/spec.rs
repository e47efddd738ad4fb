//! Wire format of specifications: file metadata as JSON, followed by the bytes.

use bytes::Bytes;
use docs_ports::{ReadSpec, ReadSpecFile, SpecFile, SpecFiles, SpecFormat, SpecOutline, SpecProblem};
use serde::{Deserialize, Serialize};

/// Locations of the files of a specification, with their URLs after redirects. The entry file comes first.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SpecLocations(pub(crate) Vec<(String, Option<String>)>);

impl SpecLocations {
    pub(crate) fn new(files: &SpecFiles) -> Self {
        let all = std::iter::once(&files.entry).chain(&files.others);
        Self(all.map(|file| (file.location.clone(), file.base.clone())).collect())
    }

    /// Assembles the files. `read` provides the bytes of each.
    ///
    /// # Errors
    /// The errors of `read`.
    pub(crate) fn into_files<E>(self, mut read: impl FnMut() -> Result<Bytes, E>) -> Result<SpecFiles, E> {
        let mut files = Vec::with_capacity(self.0.len());
        for (location, base) in self.0 {
            files.push(SpecFile { location, base, bytes: read()? });
        }
        let mut files = files.into_iter();
        let entry = match files.next() {
            Some(entry) => entry,
            None => SpecFile { bytes: read()?, ..SpecFile::default() },
        };
        Ok(SpecFiles { entry, others: files.collect() })
    }
}

/// A parsed specification without the JSON of its files.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SpecReading {
    outline: SpecOutline,
    problems: Vec<SpecProblem>,
    missing: Vec<String>,
    pub(crate) files: Vec<SpecFileReading>,
}

/// A parsed file. Its JSON follows if there is any.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SpecFileReading {
    format: SpecFormat,
    pub(crate) has_json: bool,
    references: Vec<String>,
}

impl SpecReading {
    /// Splits a parsed specification into its wire format and the JSON of its files.
    pub(crate) fn from_spec(spec: ReadSpec) -> (Self, Vec<Bytes>) {
        let mut bytes = Vec::new();
        let files = spec.files.into_iter().map(|file| {
            let has_json = file.json.is_some();
            bytes.extend(file.json);
            SpecFileReading { format: file.format, has_json, references: file.references }
        });
        let files = files.collect();
        (Self { outline: spec.outline, problems: spec.problems, missing: spec.missing, files }, bytes)
    }

    /// Reassembles the specification from the JSON of its files, in order.
    pub(crate) fn with_json(self, json: Vec<Bytes>) -> ReadSpec {
        let mut json = json.into_iter();
        let files = self.files.into_iter().map(|file| ReadSpecFile {
            format: file.format,
            json: if file.has_json { json.next() } else { None },
            references: file.references,
        });
        let files = files.collect();
        ReadSpec { outline: self.outline, problems: self.problems, missing: self.missing, files }
    }
}
