//! Three-way merge of individual records, field by field.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use docs_model::check_page_size;
use docs_store::{Hash, Key};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{
    super::{
        Body, ContentError, ContentResult, FieldClash, FieldClashes, TextMerger, clash_field,
        content::term_texts,
        entry::decode,
        load::{MissingCollector, PassResult, PassStop, Session},
        offload::run_in_place,
        text::{body_of, merge_terms, merged_terms},
    },
    Conflict, ConflictNote, StoredRecord, Subject, ThreeWay, WinningSide,
};

/// Groups of fields that are merged as a unit, with the name under which their clashes are recorded.
const MERGED_TOGETHER: [(&str, &[&str]); 2] = [
    (clash_field::POSITION, &["parent", "rank"]),
    (clash_field::CONTENT, &["contentType", "size", "dimensions", "blob", "parts"]),
];
/// Fields that are merged element by element.
const MERGED_BY_ELEMENT: [&str; 2] = ["variables", "extra"];
/// Fields with special merge rules.
const MERGED_APART: [&str; 7] = ["createdAt", "updatedAt", "git", "source", "body", "expansions", "clash"];
/// Fields that can change without an edit of the record. The rank changes, for example, when all siblings receive new
/// ranks.
const BOOKKEEPING_FIELDS: [&str; 5] = ["rank", "updatedAt", "git", "source", "expansions"];

/// Maximum number of terms of a conflicting text (17 versions), and of their bytes in total if there are more than two
/// versions.
const MAX_CONFLICT_TERMS: usize = 33;
const MAX_CONFLICT_BYTES: usize = 4_000_000;
/// Maximum number of lines of a conflicting text with more than two versions, in total. Comparing 3,000 lines in a
/// different order takes a third of the time of the longest comparison.
const MAX_CONFLICT_LINES: usize = 50_000;

type JsonObject = Map<String, Value>;

/// Merges records one after another. Collects missing texts, new texts and conflict notes.
pub(super) struct Fields<'a, 's> {
    session: &'a Session<'s>,
    merger: &'a dyn TextMerger,
    gather: MissingCollector,
    notes: BTreeSet<ConflictNote>,
    texts: Vec<String>,
}

impl<'a, 's> Fields<'a, 's> {
    pub(super) fn new(session: &'a Session<'s>, merger: &'a dyn TextMerger) -> Self {
        Self {
            session,
            merger,
            gather: MissingCollector::default(),
            notes: BTreeSet::new(),
            texts: Vec::new(),
        }
    }

    /// Returns the conflict notes and merged texts. Requests the texts that are not loaded yet.
    pub(super) fn finish(self) -> PassResult<(BTreeSet<ConflictNote>, Vec<String>)> {
        self.gather.finish()?;
        Ok((self.notes, self.texts))
    }

    /// Merges three versions of a record.
    pub(super) fn record<T: Serialize + DeserializeOwned>(
        &mut self,
        key: &Key,
        subject: Subject,
        three: &ThreeWay<StoredRecord>,
    ) -> PassResult<Option<T>> {
        let read = |bytes: &Option<bytes::Bytes>| -> ContentResult<Option<JsonObject>> {
            bytes.as_ref().map(|b| decode(key, b)).transpose()
        };
        let whole = match three.winning_side() {
            WinningSide::Equal | WinningSide::Theirs => Some(&three.theirs),
            WinningSide::Ours => Some(&three.ours),
            WinningSide::Conflict => None,
        };
        if let Some(taken) = whole {
            return Ok(taken.as_ref().map(|bytes| decode(key, bytes)).transpose()?);
        }
        let ThreeWay { base, ours, theirs } = three.as_ref().try_map(read)?;
        let merged = match (ours, theirs) {
            (Some(ours), Some(theirs)) => {
                let base = base.unwrap_or_default();
                Some(self.object(&subject, ThreeWay { base: &base, ours: &ours, theirs: &theirs })?)
            }
            (Some(kept), None) => self.merge_deleted(subject, base.as_ref(), kept, ["kept", "deleted"]),
            (None, Some(kept)) => self.merge_deleted(subject, base.as_ref(), kept, ["deleted", "kept"]),
            (None, None) => None,
        };
        let typed = |object| {
            serde_json::from_value(Value::Object(object))
                .map_err(|e| ContentError::Corrupt(format!("the merged record `{key}` does not parse: {e}")))
        };
        Ok(merged.map(typed).transpose()?)
    }

    /// Merges a record that one side deleted. It is kept if the other side changed it.
    fn merge_deleted(
        &mut self,
        subject: Subject,
        base: Option<&JsonObject>,
        mut kept: JsonObject,
        [ours, theirs]: [&str; 2],
    ) -> Option<JsonObject> {
        let told = |object: &JsonObject| -> JsonObject {
            object
                .iter()
                .filter(|(k, _)| !BOOKKEEPING_FIELDS.contains(&k.as_str()))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect()
        };
        if base.is_some_and(|base| told(base) == told(&kept)) {
            return None;
        }
        self.note(subject, Conflict::Existence);
        let clash = json!({ "other": ours, "base": "kept", "request": theirs });
        match kept.get_mut("clash").and_then(Value::as_object_mut) {
            Some(clashes) => {
                clashes.insert(clash_field::EXISTENCE.to_owned(), clash);
            }
            None => {
                kept.insert("clash".to_owned(), json!({ clash_field::EXISTENCE: clash }));
            }
        }
        Some(kept)
    }

    /// Merges a record that both sides changed.
    fn object(&mut self, subject: &Subject, three: ThreeWay<&JsonObject>) -> PassResult<JsonObject> {
        let mut out = JsonObject::new();
        let notes = three.try_map(clashes)?;
        let mut clash = FieldClashes::new();
        let mut merge = |names: &[&str], field: &str, merger: &mut Self| {
            let values = three.map(|object| pick(object, names));
            let before = notes.as_ref().map(|n| n.get(field).cloned());
            let (value, note) = merger.merge_value(subject, field, values, before);
            match value {
                Value::Object(fields) if names.len() > 1 => out.extend(fields),
                Value::Null => {}
                value => {
                    out.insert(field.to_owned(), value);
                }
            }
            if let Some(note) = note {
                clash.insert(field.to_owned(), note);
            }
        };
        for (field, names) in MERGED_TOGETHER {
            merge(names, field, self);
        }
        let single = |name: &&str| {
            !MERGED_APART.contains(name)
                && MERGED_BY_ELEMENT.iter().all(|set| name.split('.').next() != Some(set))
                && MERGED_TOGETHER.iter().all(|(field, all)| name != field && !all.contains(name))
        };
        // A field with a clash may be absent in all versions, and a clash may concern several fields.
        let names: BTreeSet<&str> = three
            .into_array()
            .into_iter()
            .flat_map(|object| object.keys().map(String::as_str))
            .chain(notes.as_ref().into_array().into_iter().flat_map(|notes| notes.keys().map(String::as_str)))
            .filter(single)
            .collect();
        for name in names {
            merge(&[name], name, self);
        }
        for set in MERGED_BY_ELEMENT {
            let merged = self.set(subject, set, three, &notes, &mut clash);
            if !merged.is_empty() {
                out.insert(set.to_owned(), Value::Object(merged));
            }
        }
        self.merge_special_fields(subject, three, &mut out)?;
        if !clash.is_empty() {
            out.insert("clash".to_owned(), to_value(&clash)?);
        }
        Ok(out)
    }

    /// Merges a map element by element.
    fn set(
        &mut self,
        subject: &Subject,
        set: &str,
        objects: ThreeWay<&JsonObject>,
        notes: &ThreeWay<FieldClashes>,
        clash: &mut FieldClashes,
    ) -> JsonObject {
        let empty = JsonObject::new();
        let sets = objects.map(|o| o.get(set).and_then(Value::as_object).unwrap_or(&empty));
        let prefix = format!("{set}.");
        let noted = notes.as_ref().into_array();
        let names: BTreeSet<&str> = sets
            .into_array()
            .into_iter()
            .flat_map(|set| set.keys().map(String::as_str))
            .chain(
                noted
                    .into_iter()
                    .flat_map(FieldClashes::keys)
                    .filter_map(|field| field.strip_prefix(&prefix)),
            )
            .collect();
        let mut out = JsonObject::new();
        for name in names {
            let field = format!("{prefix}{name}");
            // A value can be null, so present values are wrapped.
            let values = sets.map(|s| s.get(name).map_or(Value::Null, |value| json!([value])));
            let before =
                notes.as_ref().map(|n| n.get(&field).cloned().map(|note| note_map(note, |v| json!([v]))));
            let (value, note) = self.merge_value(subject, &field, values, before);
            if !value.is_null() {
                out.insert(name.to_owned(), unwrapped(value));
            }
            if let Some(note) = note {
                clash.insert(field, note_map(note, unwrapped));
            }
        }
        out
    }

    /// Merges a value and the clash recorded by an earlier merge.
    fn merge_value(
        &mut self,
        subject: &Subject,
        field: &str,
        values: ThreeWay<Value>,
        notes: ThreeWay<Option<FieldClash>>,
    ) -> (Value, Option<FieldClash>) {
        match values.winning_side() {
            WinningSide::Equal => {
                let note = if notes.theirs == notes.base { notes.ours } else { notes.theirs };
                (values.theirs, note)
            }
            WinningSide::Theirs => (values.theirs, notes.theirs),
            WinningSide::Ours => (values.ours, notes.ours),
            WinningSide::Conflict => {
                self.note(subject.clone(), Conflict::Field { field: field.to_owned() });
                let ThreeWay { base, ours, theirs } = values;
                (theirs.clone(), Some(FieldClash { other: ours, base, request: theirs }))
            }
        }
    }

    /// Merges the fields with special merge rules.
    fn merge_special_fields(
        &mut self,
        subject: &Subject,
        three: ThreeWay<&JsonObject>,
        out: &mut JsonObject,
    ) -> PassResult<()> {
        let ThreeWay { base, ours, theirs } = three;
        let times = |name| {
            let read = |o: &JsonObject| -> Option<DateTime<Utc>> { o.get(name)?.as_str()?.parse().ok() };
            [read(ours), read(theirs)].into_iter().flatten()
        };
        if let Some(first) = times("createdAt").min() {
            out.insert("createdAt".to_owned(), to_value(&first)?);
        }
        if let Some(last) = times("updatedAt").max() {
            out.insert("updatedAt".to_owned(), to_value(&last)?);
        }
        // Main content determines the Git metadata. That of the change request is used only if it is unchanged in main
        // content.
        let known = if ours.get("git") == base.get("git") { theirs } else { ours };
        for name in ["git", "source"] {
            if let Some(value) = known.get(name) {
                out.insert(name.to_owned(), value.clone());
            }
        }
        let expansions = "expansions";
        let newer = if ours.get(expansions) == base.get(expansions) { theirs } else { ours };
        if let Some(value) = newer.get(expansions) {
            out.insert(expansions.to_owned(), value.clone());
        }
        let body = self.body(subject, three.try_map(body)?)?;
        if !body.is_empty() {
            out.insert("body".to_owned(), to_value(&body)?);
        }
        Ok(())
    }

    fn body(&mut self, subject: &Subject, bodies: ThreeWay<Body>) -> PassResult<Body> {
        match bodies.winning_side() {
            WinningSide::Equal | WinningSide::Theirs => return Ok(bodies.theirs),
            WinningSide::Ours => return Ok(bodies.ours),
            WinningSide::Conflict => {}
        }
        let merged = body_of(merged_terms(&bodies.base, &bodies.ours, &bodies.theirs));
        if !merged.is_conflict() {
            return Ok(merged);
        }
        let Some(terms) = self.gather.ask(term_texts(self.session, &merged))? else {
            // The value is discarded: the merge runs again after the texts are loaded.
            return Ok(merged);
        };
        let terms: Vec<&str> = terms.iter().map(|t| &**t).collect();
        check_terms(&terms)?;
        // A merged text that exceeds the size limit is treated as a conflict.
        let text = run_in_place(|| merge_terms(self.merger, &terms));
        match text.filter(|text| check_page_size(text).is_ok()) {
            Some(text) if text.is_empty() => Ok(Body::Empty),
            Some(text) => {
                let hash = Hash::compute(text.as_bytes());
                self.texts.push(text);
                Ok(Body::Text(hash))
            }
            None => {
                self.note(subject.clone(), Conflict::Text);
                Ok(merged)
            }
        }
    }

    fn note(&mut self, subject: Subject, conflict: Conflict) {
        self.notes.insert(ConflictNote { subject, conflict });
    }
}

/// Rejects a conflict of too many or too long versions. Each reader of the text merges all of them.
fn check_terms(terms: &[&str]) -> ContentResult<()> {
    let bytes: usize = terms.iter().map(|text| text.len()).sum();
    let lines: usize = terms.iter().map(|text| text.lines().count()).sum();
    let is_long = bytes > MAX_CONFLICT_BYTES || lines > MAX_CONFLICT_LINES;
    let is_minimum = terms.len() <= 3;
    if terms.len() > MAX_CONFLICT_TERMS || (is_long && !is_minimum) {
        let versions = terms.len().div_ceil(2);
        return Err(ContentError::TooLarge(format!(
            "has a page with {versions} conflicting versions of {bytes} bytes and {lines} lines in total: at most {} \
             versions, {MAX_CONFLICT_BYTES} bytes and {MAX_CONFLICT_LINES} lines may conflict; resolve the conflicts \
             of the page first",
            MAX_CONFLICT_TERMS.div_ceil(2)
        )));
    }
    Ok(())
}

/// Returns the value of a single field, or an object with several fields. Returns null if none is present.
fn pick(object: &JsonObject, names: &[&str]) -> Value {
    if let [name] = names {
        return object.get(*name).cloned().unwrap_or(Value::Null);
    }
    let fields: JsonObject =
        names.iter().filter_map(|n| Some(((*n).to_owned(), object.get(*n)?.clone()))).collect();
    if fields.is_empty() { Value::Null } else { Value::Object(fields) }
}

fn unwrapped(value: Value) -> Value {
    match value {
        Value::Array(mut one) => one.pop().unwrap_or(Value::Null),
        other => other,
    }
}

fn note_map(note: FieldClash, change: impl Fn(Value) -> Value) -> FieldClash {
    FieldClash { other: change(note.other), base: change(note.base), request: change(note.request) }
}

fn clashes(object: &JsonObject) -> PassResult<FieldClashes> {
    part(object, "clash").map(Option::unwrap_or_default)
}

fn body(object: &JsonObject) -> PassResult<Body> {
    part(object, "body").map(Option::unwrap_or_default)
}

fn part<T: DeserializeOwned>(object: &JsonObject, name: &str) -> PassResult<Option<T>> {
    let read = |value: &Value| {
        serde_json::from_value(value.clone()).map_err(|e| {
            PassStop::Fail(ContentError::Corrupt(format!("a record's `{name}` does not parse: {e}")))
        })
    };
    object.get(name).map(read).transpose()
}

fn to_value<T: Serialize>(value: &T) -> ContentResult<Value> {
    serde_json::to_value(value).map_err(|e| ContentError::Corrupt(format!("a record has no JSON form: {e}")))
}

/// Returns the position of a page in the form stored in clashes.
pub(super) fn position(entry: Option<&super::PageEntry>) -> Value {
    entry.map_or(Value::Null, |entry| {
        let mut fields: BTreeMap<&str, &str> = BTreeMap::from([("rank", entry.rank.as_str())]);
        if let Some(parent) = &entry.parent {
            fields.insert("parent", parent.as_str());
        }
        json!(fields)
    })
}
