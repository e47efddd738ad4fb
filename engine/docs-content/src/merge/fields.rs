//! Merging one record, field by field.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use docs_store::{Hash, Key};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{
    super::{
        Body, Clash, Clashes, ContentError, ContentResult, TextMerger, clash_field,
        entry::decode,
        facade::term_texts,
        load::{Gather, Session, Step, Stop},
        text::{body_of, merged_terms, unite},
    },
    Conflict, ConflictNote, Subject, Three,
};

/// Fields that are merged together, by the name their clash has.
const TOGETHER: [(&str, &[&str]); 2] = [
    (clash_field::POSITION, &["parent", "rank"]),
    (clash_field::CONTENT, &["contentType", "size", "dimensions", "blob"]),
];
/// Fields that are merged element by element.
const SETS: [&str; 2] = ["variables", "extra"];
/// Fields with rules of their own.
const APART: [&str; 5] = ["createdAt", "updatedAt", "git", "body", "clash"];
/// What may differ without the record having been changed by anyone: where it stands among its siblings is kept in
/// the record, and moves when siblings are spread.
const BOOKKEEPING: [&str; 3] = ["rank", "updatedAt", "git"];

type Object = Map<String, Value>;

/// Merges records one after the other; collects the texts they need, the texts they make, and the notes.
pub(super) struct Fields<'a, 's> {
    session: &'a Session<'s>,
    merger: &'a dyn TextMerger,
    gather: Gather,
    notes: BTreeSet<ConflictNote>,
    texts: Vec<String>,
}

impl<'a, 's> Fields<'a, 's> {
    pub(super) fn new(session: &'a Session<'s>, merger: &'a dyn TextMerger) -> Self {
        Self { session, merger, gather: Gather::default(), notes: BTreeSet::new(), texts: Vec::new() }
    }

    /// The notes and the new texts; or a stop, when texts have to be loaded first.
    pub(super) fn finish(self) -> Step<(BTreeSet<ConflictNote>, Vec<String>)> {
        self.gather.done()?;
        Ok((self.notes, self.texts))
    }

    /// The record that three make.
    pub(super) fn record<T: Serialize + DeserializeOwned>(
        &mut self,
        key: &Key,
        subject: Subject,
        three: &Three,
    ) -> Step<Option<T>> {
        let read = |bytes: &Option<bytes::Bytes>| -> ContentResult<Option<Object>> {
            bytes.as_ref().map(|b| decode(key, b)).transpose()
        };
        let whole = if three.other == three.base || three.other == three.request {
            Some(&three.request)
        } else if three.request == three.base {
            Some(&three.other)
        } else {
            None
        };
        if let Some(taken) = whole {
            return Ok(taken.as_ref().map(|bytes| decode(key, bytes)).transpose()?);
        }
        let base = read(&three.base)?;
        let merged = match (read(&three.other)?, read(&three.request)?) {
            (Some(other), Some(request)) => {
                Some(self.object(&subject, &base.unwrap_or_default(), &other, &request)?)
            }
            (Some(kept), None) => self.kept(subject, base.as_ref(), kept, ["kept", "deleted"]),
            (None, Some(kept)) => self.kept(subject, base.as_ref(), kept, ["deleted", "kept"]),
            (None, None) => None,
        };
        let typed = |object| {
            serde_json::from_value(Value::Object(object))
                .map_err(|e| ContentError::Corrupt(format!("the merged record `{key}` does not parse: {e}")))
        };
        Ok(merged.map(typed).transpose()?)
    }

    /// A record that one side removed: it stays if the other side changed it.
    fn kept(
        &mut self,
        subject: Subject,
        base: Option<&Object>,
        mut kept: Object,
        [other, request]: [&str; 2],
    ) -> Option<Object> {
        let told = |object: &Object| -> Object {
            object
                .iter()
                .filter(|(k, _)| !BOOKKEEPING.contains(&k.as_str()))
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect()
        };
        if base.is_some_and(|base| told(base) == told(&kept)) {
            return None;
        }
        self.note(subject, Conflict::Existence);
        let clash = json!({ "other": other, "base": "kept", "request": request });
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

    /// A record that both sides changed.
    fn object(&mut self, subject: &Subject, base: &Object, other: &Object, request: &Object) -> Step<Object> {
        let mut out = Object::new();
        let notes = [clashes(base)?, clashes(other)?, clashes(request)?];
        let mut clash = Clashes::new();
        let mut unit = |names: &[&str], title: &str, merger: &mut Self| {
            let values = [base, other, request].map(|object| pick(object, names));
            let before = notes.each_ref().map(|n| n.get(title).cloned());
            let (value, note) = merger.unit(subject, title, values, before);
            match value {
                Value::Object(fields) if names.len() > 1 => out.extend(fields),
                Value::Null => {}
                value => {
                    out.insert(title.to_owned(), value);
                }
            }
            if let Some(note) = note {
                clash.insert(title.to_owned(), note);
            }
        };
        for (title, names) in TOGETHER {
            unit(names, title, self);
        }
        let single = |name: &&str| {
            !APART.contains(name)
                && SETS.iter().all(|set| name.split('.').next() != Some(set))
                && TOGETHER.iter().all(|(title, all)| name != title && !all.contains(name))
        };
        // A field that a note is about may be absent by now, and a note need not be about a field.
        let names: BTreeSet<&str> = [base, other, request]
            .into_iter()
            .flat_map(|object| object.keys().map(String::as_str))
            .chain(notes.iter().flat_map(|notes| notes.keys().map(String::as_str)))
            .filter(single)
            .collect();
        for name in names {
            unit(&[name], name, self);
        }
        for set in SETS {
            let merged = self.set(subject, set, [base, other, request], (&notes, &mut clash));
            if !merged.is_empty() {
                out.insert(set.to_owned(), Value::Object(merged));
            }
        }
        self.apart(subject, [base, other, request], &mut out)?;
        if !clash.is_empty() {
            out.insert("clash".to_owned(), to_value(&clash)?);
        }
        Ok(out)
    }

    /// A map that is merged by element.
    fn set(
        &mut self,
        subject: &Subject,
        set: &str,
        objects: [&Object; 3],
        (notes, clash): (&[Clashes; 3], &mut Clashes),
    ) -> Object {
        let empty = Object::new();
        let sets = objects.map(|o| o.get(set).and_then(Value::as_object).unwrap_or(&empty));
        let prefix = format!("{set}.");
        let names: BTreeSet<&str> = sets
            .into_iter()
            .flat_map(|set| set.keys().map(String::as_str))
            .chain(notes.iter().flat_map(Clashes::keys).filter_map(|title| title.strip_prefix(&prefix)))
            .collect();
        let mut out = Object::new();
        for name in names {
            let title = format!("{prefix}{name}");
            // A value may itself be null, so one that is there is wrapped.
            let values = sets.map(|s| s.get(name).map_or(Value::Null, |value| json!([value])));
            let before =
                notes.each_ref().map(|n| n.get(&title).cloned().map(|note| note_map(note, |v| json!([v]))));
            let (value, note) = self.unit(subject, &title, values, before);
            if !value.is_null() {
                out.insert(name.to_owned(), unwrapped(value));
            }
            if let Some(note) = note {
                clash.insert(title, note_map(note, unwrapped));
            }
        }
        out
    }

    /// One value with the note an earlier merge left on it: of base, other and request.
    fn unit(
        &mut self,
        subject: &Subject,
        title: &str,
        [base, other, request]: [Value; 3],
        [base_note, other_note, request_note]: [Option<Clash>; 3],
    ) -> (Value, Option<Clash>) {
        if other == request {
            let note = if request_note == base_note { other_note } else { request_note };
            return (request, note);
        }
        if other == base {
            return (request, request_note);
        }
        if request == base {
            return (other, other_note);
        }
        self.note(subject.clone(), Conflict::Field { field: title.to_owned() });
        (request.clone(), Some(Clash { other, base, request }))
    }

    /// The fields with rules of their own.
    fn apart(
        &mut self,
        subject: &Subject,
        [base, other, request]: [&Object; 3],
        out: &mut Object,
    ) -> Step<()> {
        let times = |name| {
            let read = |o: &Object| -> Option<DateTime<Utc>> { o.get(name)?.as_str()?.parse().ok() };
            [read(other), read(request)].into_iter().flatten()
        };
        if let Some(first) = times("createdAt").min() {
            out.insert("createdAt".to_owned(), to_value(&first)?);
        }
        if let Some(last) = times("updatedAt").max() {
            out.insert("updatedAt".to_owned(), to_value(&last)?);
        }
        // What Git knows is known of main content; the request has a say only where main has nothing new.
        let git = if other.get("git") == base.get("git") { request.get("git") } else { other.get("git") };
        if let Some(git) = git {
            out.insert("git".to_owned(), git.clone());
        }
        let body = self.body(subject, &[body(base)?, body(other)?, body(request)?])?;
        if !body.is_empty() {
            out.insert("body".to_owned(), to_value(&body)?);
        }
        Ok(())
    }

    fn body(&mut self, subject: &Subject, [base, other, request]: &[Body; 3]) -> Step<Body> {
        if other == request || other == base {
            return Ok(request.clone());
        }
        if request == base {
            return Ok(other.clone());
        }
        let merged = body_of(merged_terms(base, other, request));
        if !merged.is_conflict() {
            return Ok(merged);
        }
        let Some(terms) = self.gather.ask(term_texts(self.session, &merged))? else {
            // The pass ends without an answer; what stands here is never seen.
            return Ok(merged);
        };
        let terms: Vec<&str> = terms.iter().map(|t| &**t).collect();
        match unite(self.merger, &terms) {
            Some(text) if text.is_empty() => Ok(Body::Empty),
            Some(text) => {
                let hash = Hash::of(text.as_bytes());
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

/// One field, or several as one value; null when none is there.
fn pick(object: &Object, names: &[&str]) -> Value {
    if let [name] = names {
        return object.get(*name).cloned().unwrap_or(Value::Null);
    }
    let fields: Object =
        names.iter().filter_map(|n| Some(((*n).to_owned(), object.get(*n)?.clone()))).collect();
    if fields.is_empty() { Value::Null } else { Value::Object(fields) }
}

fn unwrapped(value: Value) -> Value {
    match value {
        Value::Array(mut one) => one.pop().unwrap_or(Value::Null),
        other => other,
    }
}

fn note_map(note: Clash, change: impl Fn(Value) -> Value) -> Clash {
    Clash { other: change(note.other), base: change(note.base), request: change(note.request) }
}

fn clashes(object: &Object) -> Step<Clashes> {
    part(object, "clash").map(Option::unwrap_or_default)
}

fn body(object: &Object) -> Step<Body> {
    part(object, "body").map(Option::unwrap_or_default)
}

fn part<T: DeserializeOwned>(object: &Object, name: &str) -> Step<Option<T>> {
    let read = |value: &Value| {
        serde_json::from_value(value.clone()).map_err(|e| {
            Stop::Fail(ContentError::Corrupt(format!("a record's `{name}` does not parse: {e}")))
        })
    };
    object.get(name).map(read).transpose()
}

fn to_value<T: Serialize>(value: &T) -> ContentResult<Value> {
    serde_json::to_value(value).map_err(|e| ContentError::Corrupt(format!("a record has no JSON form: {e}")))
}

/// The position of a page as a clash remembers it.
pub(super) fn position(entry: Option<&super::PageEntry>) -> Value {
    entry.map_or(Value::Null, |entry| {
        let mut fields: BTreeMap<&str, &str> = BTreeMap::from([("rank", entry.rank.as_str())]);
        if let Some(parent) = &entry.parent {
            fields.insert("parent", parent.as_str());
        }
        json!(fields)
    })
}
