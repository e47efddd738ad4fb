//! The files of a specification, and the lookup of values in them.

use std::{
    borrow::Cow,
    cell::{Cell, OnceCell, RefCell},
    collections::{BTreeMap, HashMap, hash_map::Entry},
    rc::Rc,
};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json::Json;
use crate::platform::content::openapi_specs::process::base_address;

/// Maximum size in bytes of a value that is parsed as a tree, and of all values read for one subject.
const MAX_BYTES: usize = 256 << 10;
const MAX_SUBJECT_BYTES: usize = 4 << 20;
/// Number of bytes read after which no further subject is started.
const READ_BUDGET: usize = 16 << 20;
/// Maximum length of a chain of references.
const MAX_HOPS: usize = 8;

/// The fields of an object by name, unparsed.
type Fields<'f> = BTreeMap<Cow<'f, str>, &'f RawValue>;

/// Values with their sizes in bytes, by file and path.
type ParsedValues = HashMap<(String, Vec<String>), (Json, usize)>;

/// The names of schemas with references to them.
type NamedSchemas = Vec<(String, SpecValue)>;

/// The part of a schema that names the schemas it extends.
#[derive(Deserialize)]
struct ExtendingSchema {
    #[serde(default, rename = "allOf")]
    parts: Vec<ExtendedSchema>,
}

#[derive(Deserialize)]
struct ExtendedSchema {
    #[serde(rename = "$ref")]
    reference: Option<String>,
}

/// A file in the stored form of a version.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File<'f> {
    is_entrypoint: bool,
    #[serde(default)]
    dir: String,
    #[serde(borrow)]
    specification: &'f RawValue,
}

pub(super) struct SpecDocument<'f> {
    by_name: HashMap<String, &'f RawValue>,
    /// The base folders of relative references in files, where they differ from the folder of the file name.
    folders: HashMap<String, String>,
    entry: String,
    /// The fields split so far, by file and path, so that a file is not rescanned for each of its schemas.
    passed: RefCell<HashMap<(String, String), Fields<'f>>>,
    /// The named schemas of the entry file that extend another one, by the origin of that one.
    extensions: OnceCell<HashMap<String, NamedSchemas>>,
    /// The values parsed for the current subject.
    parsed: RefCell<ParsedValues>,
    /// Bytes parsed as trees, for the current subject and for all earlier subjects.
    read: Cell<usize>,
    before: Cell<usize>,
}

/// A value of a specification and the file that contains it.
#[derive(Clone, Debug)]
pub(super) struct SpecValue {
    file: Rc<str>,
    pub(super) value: Json,
    /// The file and path of a value that was looked up by its path, and not found within another value.
    pub(super) origin: Option<Rc<str>>,
}

impl SpecValue {
    fn new(file: &str, path: &[String], value: Json) -> Self {
        Self { file: file.into(), value, origin: Some(origin_of(file, path).into()) }
    }

    pub(super) fn get(&self, name: &str) -> Option<Self> {
        self.value.get(name).map(|value| self.with_value(value))
    }

    /// Returns the string value of a field.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.value.get(name).and_then(Json::as_text)
    }

    /// Returns `true` if a field is `true`.
    pub(super) fn is(&self, name: &str) -> bool {
        self.value.get(name).is_some_and(Json::is_true)
    }

    /// Returns the first `most` items of a list.
    pub(super) fn items(&self, most: usize) -> Vec<Self> {
        self.value.items().iter().take(most).map(|item| self.with_value(item)).collect()
    }

    /// Returns the first `most` fields of an object.
    pub(super) fn fields(&self, most: usize) -> Vec<(String, Self)> {
        let fields = self.value.fields().iter().take(most);
        fields.map(|(name, value)| (name.to_string(), self.with_value(value))).collect()
    }

    /// Returns another value in the same file.
    pub(super) fn with_value(&self, value: &Json) -> Self {
        Self { file: Rc::clone(&self.file), value: value.clone(), origin: None }
    }
}

impl<'f> SpecDocument<'f> {
    /// Parses the stored form of a version. Returns `None` for anything else.
    pub(super) fn new(filesystem: &'f [u8]) -> Option<Self> {
        let files: BTreeMap<String, File<'f>> = serde_json::from_slice(filesystem).ok()?;
        let entry = files.iter().find(|(_, file)| file.is_entrypoint)?.0.clone();
        let is_elsewhere =
            |(name, file): &(&String, &File<'f>)| !file.dir.is_empty() && file.dir != base_address(name);
        let elsewhere = files.iter().filter(is_elsewhere);
        let folders = elsewhere.map(|(name, file)| (name.clone(), format!("{}/", file.dir))).collect();
        let by_name = files.into_iter().map(|(name, file)| (name, file.specification)).collect();
        let (passed, read, before) = (RefCell::default(), Cell::new(0), Cell::new(0));
        let (extensions, parsed) = (OnceCell::new(), RefCell::default());
        Some(Self { by_name, folders, entry, passed, extensions, parsed, read, before })
    }

    /// Resolves an address relative to the specification. It stays relative if the specification has no address.
    pub(super) fn resolve_address(&self, address: &str) -> String {
        let folder = self.folders.get(&self.entry).unwrap_or(&self.entry);
        let resolved = url::Url::parse(folder).ok().and_then(|base| base.join(address).ok());
        resolved.map_or_else(|| address.to_owned(), |url| url.to_string())
    }

    /// Returns `true` if the specification has an address of its own.
    pub(super) fn has_address(&self) -> bool {
        url::Url::parse(&self.entry).is_ok()
    }

    /// Starts another subject. Returns `false` once [`READ_BUDGET`] is exhausted.
    pub(super) fn begin_subject(&self) -> bool {
        self.before.set(self.before.get() + self.read.take());
        self.parsed.take();
        self.before.get() < READ_BUDGET
    }

    /// Returns the value at a path of the entry file.
    pub(super) fn entry_at(&self, path: &[&str]) -> Option<SpecValue> {
        let path: Vec<String> = path.iter().map(|&name| name.to_owned()).collect();
        self.value_at(&self.entry, &path)
    }

    /// Returns the value at a path of a file.
    fn value_at(&self, file: &str, path: &[String]) -> Option<SpecValue> {
        let key = (file.to_owned(), path.to_vec());
        if let Some((value, bytes)) = self.parsed.borrow().get(&key) {
            // Each use counts, so that the texts of an answer are bounded too.
            self.read.set(self.read.get() + bytes);
            let is_within = self.read.get() <= MAX_SUBJECT_BYTES;
            return is_within.then(|| SpecValue::new(file, path, value.clone()));
        }
        let raw = self.raw_at(file, path)?;
        let bytes = raw.get().len();
        self.read.set(self.read.get() + bytes);
        if bytes > MAX_BYTES || self.read.get() > MAX_SUBJECT_BYTES {
            return None;
        }
        let value: Json = serde_json::from_str(raw.get()).ok()?;
        self.parsed.borrow_mut().insert(key, (value.clone(), bytes));
        Some(SpecValue::new(file, path, value))
    }

    /// Returns the text of the value at a path of a file.
    fn raw_at(&self, file: &str, path: &[String]) -> Option<&'f RawValue> {
        let mut raw = *self.by_name.get(file)?;
        let mut passed = self.passed.borrow_mut();
        let mut place = String::new();
        for name in path {
            let key = (file.to_owned(), place.clone());
            let fields = match passed.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(split_fields(raw)?),
            };
            raw = fields.get(name.as_str())?;
            place.push('/');
            place.push_str(name);
        }
        Some(raw)
    }

    /// Returns the first `most` named schemas of the entry file that extend a schema by `allOf`, directly or through
    /// others, in the order of the document.
    pub(super) fn extensions(&self, origin: &str, most: usize) -> NamedSchemas {
        let known = self.extensions.get_or_init(|| self.find_extensions());
        let mut found: NamedSchemas = Vec::new();
        let mut origins = vec![origin.to_owned()];
        let mut at = 0;
        while let Some(origin) = origins.get(at) {
            at += 1;
            for (name, reference) in known.get(origin).cloned().unwrap_or_default() {
                let own = reference.text("$ref").and_then(|own| self.target(&self.entry, own));
                let own = own.map(|(file, path)| origin_of(&file, &path)).unwrap_or_default();
                if found.len() < most && !origins.contains(&own) {
                    origins.push(own);
                    found.push((name, reference));
                }
            }
        }
        found
    }

    fn find_extensions(&self) -> HashMap<String, NamedSchemas> {
        let mut found: HashMap<String, NamedSchemas> = HashMap::new();
        for folder in [&["components", "schemas"][..], &["definitions"]] {
            let path: Vec<String> = folder.iter().map(|&name| name.to_owned()).collect();
            let Some(all) = self.raw_at(&self.entry, &path).and_then(split_fields) else { continue };
            let mut all: Vec<_> = all.into_iter().collect();
            // The values are parts of one text, so their addresses are in the order of the document.
            all.sort_by_key(|(_, raw)| raw.get().as_ptr());
            for (name, raw) in all {
                let Ok(schema) = serde_json::from_str::<ExtendingSchema>(raw.get()) else { continue };
                let escaped = escape_pointer(&name).replace('%', "%25");
                let reference = Json::reference(&format!("#/{}/{escaped}", folder.join("/")));
                for part in schema.parts.iter().filter_map(|part| part.reference.as_deref()) {
                    let Some((file, path)) = self.target(&self.entry, part) else { continue };
                    let own =
                        SpecValue { file: (*self.entry).into(), value: reference.clone(), origin: None };
                    found.entry(origin_of(&file, &path)).or_default().push((name.to_string(), own));
                }
            }
        }
        found
    }

    /// Follows references from a value. An unresolvable reference becomes an empty object.
    pub(super) fn follow_references(&self, mut found: SpecValue) -> SpecValue {
        for _ in 0..MAX_HOPS {
            let Some(reference) = found.text("$ref") else { return found };
            let next = self.resolve_reference(&found.file, reference);
            found = next.unwrap_or_else(|| found.with_value(&Json::empty_map()));
        }
        found.with_value(&Json::empty_map())
    }

    fn resolve_reference(&self, from: &str, reference: &str) -> Option<SpecValue> {
        let (file, path) = self.target(from, reference)?;
        self.value_at(&file, &path)
    }

    /// Resolves a `$ref` in the file `from`. Returns the referenced file and the JSON Pointer in it, split at slashes.
    fn target(&self, from: &str, reference: &str) -> Option<(String, Vec<String>)> {
        let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let file = match file {
            "" => from.to_owned(),
            file => {
                let folder = self.folders.get(from).map_or(from, String::as_str);
                url::Url::parse(folder).ok()?.join(file).ok()?.to_string()
            }
        };
        let unescaped = |name: &str| {
            let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned();
            name.replace("~1", "/").replace("~0", "~")
        };
        Some((file, pointer.split('/').skip(1).map(unescaped).collect()))
    }
}

/// Returns the origin of the value at a path of a file.
fn origin_of(file: &str, path: &[String]) -> String {
    let path: Vec<String> = path.iter().map(|name| escape_pointer(name)).collect();
    format!("{file}#/{}", path.join("/"))
}

fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Returns the fields of an object, or the items of a list keyed by index.
fn split_fields(raw: &RawValue) -> Option<Fields<'_>> {
    if raw.get().starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
        return Some(items.into_iter().enumerate().map(|(at, item)| (at.to_string().into(), item)).collect());
    }
    serde_json::from_str(raw.get()).ok()
}

/// Returns the last segment of a reference.
pub(super) fn reference_name(reference: &str) -> &str {
    reference.rsplit(['/', '#']).next().unwrap_or(reference)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Creates a file with values of these sizes in bytes.
    fn filesystem(sizes: &[usize]) -> Vec<u8> {
        let values: Vec<String> = sizes.iter().map(|bytes| "x".repeat(bytes - 2)).collect();
        let file = json!({ "isEntrypoint": true, "specification": values });
        serde_json::to_vec(&json!({ "a": file })).expect("JSON")
    }

    #[test]
    fn values_larger_than_the_bound_are_left_out() {
        let filesystem = filesystem(&[MAX_BYTES, MAX_BYTES + 1]);
        let files = SpecDocument::new(&filesystem).expect("files");
        assert_eq!(["0", "1"].map(|at| files.entry_at(&[at]).is_some()), [true, false]);
    }

    #[test]
    fn values_beyond_the_total_of_a_subject_are_left_out() {
        let filesystem = filesystem(&[MAX_BYTES]);
        let files = SpecDocument::new(&filesystem).expect("files");
        let most = MAX_SUBJECT_BYTES / MAX_BYTES;
        let read = (0..=most).filter(|_| files.entry_at(&["0"]).is_some()).count();
        assert_eq!(read, most);
        // The next subject has its own budget.
        assert!(files.begin_subject() && files.entry_at(&["0"]).is_some());
    }
}
