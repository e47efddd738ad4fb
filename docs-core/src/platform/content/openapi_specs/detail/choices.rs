//! The alternatives of schemas.

use std::collections::HashMap;

use super::{
    files::{SpecValue, reference_name},
    json::Json,
    merged::MergedSchema,
    model::MAX_VALUES,
    reader::DetailReader,
};

/// An alternative of a schema, before it is shown.
pub(super) struct Alternative {
    pub(super) schema: MergedSchema,
    /// The value of the discriminator.
    pub(super) value: Option<String>,
}

impl DetailReader<'_, '_> {
    /// The alternatives of a schema: those of `oneOf` and `anyOf`, or else those that its discriminator selects.
    pub(super) fn choices(&self, whole: &MergedSchema) -> Vec<(bool, Vec<Alternative>)> {
        if whole.groups.is_empty() {
            let selected = self.selected_alternatives(whole);
            return if selected.is_empty() { Vec::new() } else { vec![(false, selected)] };
        }
        let mapping = whole.value("discriminator").and_then(|of| of.get("mapping")).map(Json::fields);
        let mapping = mapping.unwrap_or_default();
        let has_discriminator = whole.discriminator().is_some();
        let targets = mapping.iter().enumerate().rev();
        let targets: HashMap<&str, usize> =
            targets.filter_map(|(at, (_, target))| Some((target.as_text()?, at))).collect();
        let alternative = |of: &SpecValue| {
            let reference = of.text("$ref").unwrap_or_default();
            let name = reference_name(reference);
            let known = [reference, name].map(|target| targets.get(target).filter(|_| !reference.is_empty()));
            let named = known.into_iter().flatten().min().and_then(|at| mapping.get(*at));
            let value = named.map(|(value, _)| value.to_string());
            let value = value.or_else(|| Some(name.to_owned()).filter(|name| !name.is_empty()));
            Alternative { schema: self.merge(of.clone()), value: value.filter(|_| has_discriminator) }
        };
        let groups = whole.groups.iter();
        let listed = |of: &SpecValue| self.has_room().then(|| alternative(of));
        groups.map(|(is_any, all)| (*is_any, all.iter().map_while(listed).collect())).collect()
    }

    /// Returns the alternatives that the discriminator of a schema selects: those in its mapping, or else the schemas
    /// that extend the schema. An alternative inherits the discriminator, but has no alternatives itself.
    fn selected_alternatives(&self, whole: &MergedSchema) -> Vec<Alternative> {
        let has_discriminator = |part: &&SpecValue| part.value.get("discriminator").is_some();
        let Some(base) = whole.own().iter().find(has_discriminator) else { return Vec::new() };
        let mut found = Vec::new();
        for (value, target) in self.targets(base).into_iter().take_while(|_| self.has_room()) {
            let mut schema = self.merge(target);
            let Some(origin) = schema.origins.first() else { continue };
            if Some(origin) == base.origin.as_ref() {
                continue;
            }
            if whole.origins.contains(origin) {
                return Vec::new();
            }
            // An alternative without fields of its own differs from the schema in the value of the discriminator.
            schema.origins.truncate(1);
            found.push(Alternative { schema, value: Some(value) });
        }
        found
    }

    /// Returns the values of a discriminator with references to the schemas that they select.
    fn targets(&self, base: &SpecValue) -> Vec<(String, SpecValue)> {
        let discriminator = base.value.get("discriminator");
        let mapping = discriminator.and_then(|of| of.get("mapping")).map(Json::fields).unwrap_or_default();
        if mapping.is_empty() {
            let origin = base.origin.as_deref();
            return origin.map(|origin| self.files.extensions(origin, MAX_VALUES)).unwrap_or_default();
        }
        let target = |(value, target): &(_, Json)| {
            let target = target.as_text()?;
            let is_name = !target.contains(['/', '#', '.']);
            let target = if is_name { format!("#/components/schemas/{target}") } else { target.to_owned() };
            Some((ToString::to_string(value), base.with_value(&Json::reference(&target))))
        };
        mapping.iter().take(MAX_VALUES).filter_map(target).collect()
    }
}
