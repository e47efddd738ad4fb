//! Operations: parameters, bodies, responses and callbacks.

use std::rc::Rc;

use super::{
    files::SpecValue,
    json::Json,
    model::{
        BodyDetail, CallbackDetail, ExampleDetail, FormFieldDetail, MAX_CALLBACK_DEPTH, MAX_FIELDS,
        MAX_ITEMS, MAX_VALUES, OperationDetail, ParameterDetail, RequestDetail, ResponseDetail,
    },
    reader::{DetailReader, Direction, line, text},
};

/// The methods of the operations of a path.
const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
/// The media types of forms.
const URL_ENCODED: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";
/// The substring of the media types that are shown before others.
const JSON: &str = "json";

impl DetailReader<'_, '_> {
    /// Returns an operation of a path item. The service receives its requests, or sends those of a webhook.
    pub(super) fn operation(
        &self,
        item: SpecValue,
        method: &str,
        requests: Direction,
    ) -> Option<OperationDetail> {
        let item = self.files.follow_references(item);
        let found = self.files.follow_references(item.get(method)?);
        let mut detail = self.operation_without_callbacks(&item, &found, requests);
        let mut left = MAX_ITEMS;
        detail.callbacks = self.callbacks(&found, MAX_CALLBACK_DEPTH, &mut left);
        detail.is_cut = self.take_cut();
        Some(detail)
    }

    fn operation_without_callbacks(
        &self,
        item: &SpecValue,
        found: &SpecValue,
        requests: Direction,
    ) -> OperationDetail {
        let mut parameters = Vec::new();
        let (mut body, mut form) = (None, Vec::new());
        for parameter in self.all_parameters(item, found) {
            match parameter.text("in") {
                Some("body") => body = Some(parameter),
                Some("formData") => form.push(parameter),
                _ => parameters.push(self.parameter(&parameter, requests)),
            }
        }
        let request = match found.get("requestBody") {
            Some(body) => Some(self.request(&self.files.follow_references(body), requests)),
            None => self.swagger_2_request(found, body.as_ref(), &form),
        };
        let of = |name| found.value.get(name);
        OperationDetail {
            operation_id: text(of("operationId")),
            summary: text(of("summary")).or_else(|| text(item.value.get("summary"))),
            description: text(of("description")).or_else(|| text(item.value.get("description"))),
            deprecated: found.is("deprecated"),
            servers: self.servers(&[found, item]),
            security: self.security(found),
            parameters,
            request,
            responses: self.responses(found, requests.opposite()),
            callbacks: Vec::new(),
            external_docs: self.external_docs(&found.value),
            samples: self.code_samples(found),
            is_cut: false,
        }
    }

    /// Returns the parameters of an operation, and those of its path that the operation does not override by name and
    /// location.
    fn all_parameters(&self, item: &SpecValue, operation: &SpecValue) -> Vec<SpecValue> {
        let mut all: Vec<SpecValue> = Vec::new();
        for of in [operation, item] {
            for parameter in of.get("parameters").map(|list| list.items(usize::MAX)).unwrap_or_default() {
                if all.len() >= MAX_ITEMS {
                    self.mark_cut();
                    return all;
                }
                let parameter = self.files.follow_references(parameter);
                let named =
                    |of: &SpecValue| (of.text("name").map(str::to_owned), of.text("in").map(str::to_owned));
                if !all.iter().any(|known| named(known) == named(&parameter)) {
                    all.push(parameter);
                }
            }
        }
        all
    }

    fn parameter(&self, of: &SpecValue, direction: Direction) -> ParameterDetail {
        let media = of.get("content").and_then(|all| all.fields(1).pop());
        let schema = of.get("schema").or_else(|| media.as_ref()?.1.get("schema"));
        // In Swagger 2.0, a parameter is a schema itself.
        let schema = schema.unwrap_or_else(|| of.with_value(&without_description(&of.value)));
        self.fields_left.set(MAX_FIELDS);
        let (shown, example) = self.schema_with_example(schema, direction);
        let mut examples = self.told_examples(of, MAX_VALUES);
        if let Some((_, media)) = media.filter(|_| examples.is_empty()) {
            examples = self.told_examples(&media, MAX_VALUES);
        }
        let told = of.value.get("example").cloned().or_else(|| {
            let named = self.files.follow_references(of.get("examples")?.fields(1).pop()?.1);
            named.value.get("value").cloned()
        });
        let sample = told.or(example);
        ParameterDetail {
            name: of.text("name").unwrap_or_default().to_owned(),
            location: of.text("in").unwrap_or_default().to_owned(),
            required: of.is("required") || of.text("in") == Some("path"),
            deprecated: of.is("deprecated"),
            description: text(of.value.get("description")),
            schema: shown,
            examples,
            query: if is_in_query(of) { query_pairs(of, sample.as_ref()) } else { Vec::new() },
            sample: sample_values(of, sample.as_ref()),
        }
    }

    /// Returns the request body of OpenAPI 3.
    fn request(&self, of: &SpecValue, direction: Direction) -> RequestDetail {
        RequestDetail {
            description: text(of.value.get("description")),
            required: of.is("required"),
            bodies: self.bodies(of, direction),
        }
    }

    /// Returns the request body of Swagger 2.0, given as parameters.
    fn swagger_2_request(
        &self,
        operation: &SpecValue,
        body: Option<&SpecValue>,
        form: &[SpecValue],
    ) -> Option<RequestDetail> {
        if let Some(body) = body {
            let schema = body.get("schema");
            let names = self.swagger_2_media(operation, "consumes");
            let of = |name: &String| self.body(name, schema.as_ref(), Vec::new(), Direction::Request);
            return Some(RequestDetail {
                description: text(body.value.get("description")),
                required: body.is("required"),
                bodies: names.iter().map(of).collect(),
            });
        }
        let first = form.first()?;
        let is_file = |of: &SpecValue| of.text("type") == Some("file");
        let names = self.swagger_2_media(operation, "consumes");
        let told = names.into_iter().find(|name| name == URL_ENCODED || name == MULTIPART);
        let name =
            told.unwrap_or_else(|| if form.iter().any(is_file) { MULTIPART } else { URL_ENCODED }.to_owned());
        let bodies = vec![self.body(&name, Some(&form_schema(first, form)), Vec::new(), Direction::Request)];
        Some(RequestDetail { description: None, required: form.iter().any(|of| of.is("required")), bodies })
    }

    /// Returns the media types of Swagger 2.0.
    fn swagger_2_media(&self, operation: &SpecValue, field: &str) -> Vec<String> {
        let found = operation.get(field).or_else(|| self.files.entry_at(&[field]));
        let mut names: Vec<String> = found
            .map(|all| all.items(MAX_VALUES))
            .unwrap_or_default()
            .iter()
            .filter_map(|of| text(Some(&of.value)))
            .collect();
        names.sort_by_key(|name| !name.contains(JSON));
        if names.is_empty() { vec!["application/json".to_owned()] } else { names }
    }

    fn responses(&self, operation: &SpecValue, direction: Direction) -> Vec<ResponseDetail> {
        let all = operation.get("responses").map(|all| all.fields(MAX_ITEMS + 1)).unwrap_or_default();
        if all.len() > MAX_ITEMS {
            self.mark_cut();
        }
        let told = all.into_iter().take(MAX_ITEMS).filter(|(status, _)| !status.starts_with("x-"));
        told.map(|(status, response)| {
            let response = self.files.follow_references(response);
            let headers = response.get("headers").map(|all| all.fields(MAX_ITEMS)).unwrap_or_default();
            let header = |(name, header): (String, SpecValue)| {
                let header = self.parameter(&self.files.follow_references(header), direction);
                ParameterDetail { name, ..header }
            };
            let bodies = match response.get("content") {
                Some(_) => self.bodies(&response, direction),
                None => self.swagger_2_response(operation, &response),
            };
            let headers = headers.into_iter().map(header).collect();
            let description = text(response.value.get("description"));
            ResponseDetail { status, description, headers, bodies, links: self.links(&response) }
        })
        .collect()
    }

    /// Returns the bodies of a response of Swagger 2.0.
    fn swagger_2_response(&self, operation: &SpecValue, response: &SpecValue) -> Vec<BodyDetail> {
        let told: Vec<(String, SpecValue)> =
            response.get("examples").map(|all| all.fields(MAX_VALUES)).unwrap_or_default();
        let schema = response.get("schema");
        if schema.is_none() && told.is_empty() {
            return Vec::new();
        }
        let mut names = self.swagger_2_media(operation, "produces");
        names.extend(
            told.iter()
                .map(|(name, _)| name.clone())
                .filter(|name| !names.contains(name))
                .collect::<Vec<_>>(),
        );
        let body = |name: &String| {
            let example =
                told.iter().find(|(of, _)| of == name).and_then(|(_, of)| self.example_detail(&of.value));
            self.body(name, schema.as_ref(), example.into_iter().collect(), Direction::Response)
        };
        names.iter().map(body).collect()
    }

    /// Returns the bodies in each media type, those of JSON first.
    fn bodies(&self, of: &SpecValue, direction: Direction) -> Vec<BodyDetail> {
        let mut all = of.get("content").map(|all| all.fields(MAX_VALUES + 1)).unwrap_or_default();
        if all.len() > MAX_VALUES {
            all.truncate(MAX_VALUES);
            self.mark_cut();
        }
        all.sort_by_key(|(name, _)| !name.contains(JSON));
        let body = |(name, media): (String, SpecValue)| {
            let media = self.files.follow_references(media);
            let told = self.told_examples(&media, MAX_VALUES);
            let schema = media.get("schema").or_else(|| media.get("itemSchema"));
            self.body(&name, schema.as_ref(), told, direction)
        };
        all.into_iter().map(body).collect()
    }

    /// Returns a body under its media type, or a schema under its name. Without examples, one is generated.
    pub(super) fn body(
        &self,
        name: &str,
        schema: Option<&SpecValue>,
        mut examples: Vec<ExampleDetail>,
        direction: Direction,
    ) -> BodyDetail {
        self.fields_left.set(MAX_FIELDS);
        let read = schema.map(|schema| self.schema_with_example(schema.clone(), direction));
        let (schema, generated) = read.map_or((None, None), |(schema, example)| (Some(schema), example));
        let mut form = Vec::new();
        if name.starts_with(URL_ENCODED) || name.starts_with(MULTIPART) {
            let told = examples.first().and_then(|told| serde_json::from_str(&told.value).ok());
            // The fields of an example that is no object are unknown.
            let told = told.filter(|told| matches!(told, Json::Map(_)));
            form = form_fields(told.as_ref().or(generated.as_ref()), schema.as_ref());
        }
        let is_xml = name.contains("xml");
        if let Some(value) = generated.filter(|value| examples.is_empty() && *value != Json::Null) {
            let root = schema.as_ref().and_then(|schema| schema.title.as_deref()).unwrap_or("root");
            examples.extend(match &value {
                _ if is_xml => self.count_example(super::example::xml(&value, root)),
                // A text of JSON is in quotes, other texts are sent without them.
                Json::Text(_) if name.contains(JSON) || direction == Direction::Both => {
                    let value = serde_json::to_string(&value).unwrap_or_default();
                    self.example_detail(&Json::Text(value.into()))
                }
                value => self.example_detail(value),
            });
        }
        BodyDetail { name: name.to_owned(), schema, examples, form }
    }

    /// Returns the callbacks of an operation with `depth` levels of their own callbacks. `left` is the number of
    /// callbacks of all levels that may follow.
    fn callbacks(&self, operation: &SpecValue, depth: usize, left: &mut usize) -> Vec<CallbackDetail> {
        let mut all = Vec::new();
        if depth == 0 {
            if operation.value.get("callbacks").is_some() {
                self.mark_cut();
            }
            return all;
        }
        for (name, callback) in
            operation.get("callbacks").map(|all| all.fields(MAX_VALUES)).unwrap_or_default()
        {
            let callback = self.files.follow_references(callback);
            for (address, item) in callback.fields(MAX_VALUES) {
                let item = self.files.follow_references(item);
                let methods = item.fields(usize::MAX).into_iter();
                for (method, found) in methods.filter(|(method, _)| METHODS.contains(&method.as_str())) {
                    if *left == 0 {
                        self.mark_cut();
                        return all;
                    }
                    *left -= 1;
                    let found = self.files.follow_references(found);
                    let mut operation = self.operation_without_callbacks(&item, &found, Direction::Response);
                    // A callback is sent to the address in its name.
                    operation.servers.clear();
                    operation.callbacks = self.callbacks(&found, depth - 1, left);
                    all.push(CallbackDetail {
                        name: name.clone(),
                        method,
                        address: address.clone(),
                        operation,
                    });
                }
            }
        }
        all
    }
}

/// Returns a parameter of Swagger 2.0 without its description, which belongs to the parameter and not to its schema.
fn without_description(of: &Json) -> Json {
    let is_of_schema =
        |name: &str| !matches!(name, "description" | "required" | "deprecated" | "name" | "in");
    Json::Map(of.fields().iter().filter(|(name, _)| is_of_schema(name)).cloned().collect())
}

/// Returns the parameters of a form of Swagger 2.0 as the schema of an object.
fn form_schema(first: &SpecValue, form: &[SpecValue]) -> SpecValue {
    let name = |of: &SpecValue| of.text("name").unwrap_or_default().to_owned();
    let schema = |of: &SpecValue| {
        let fields =
            of.value.fields().iter().filter(|(name, _)| !matches!(&**name, "required" | "name" | "in"));
        let binary = [("type", "string"), ("format", "binary")];
        match of.text("type") {
            Some("file") => Json::Map(
                fields
                    .filter(|(name, _)| &**name != "type")
                    .cloned()
                    .chain(binary.map(|(name, value)| (name.into(), Json::Text(value.into()))))
                    .collect(),
            ),
            _ => Json::Map(fields.cloned().collect()),
        }
    };
    let properties = form.iter().map(|of| (name(of).into(), schema(of))).collect();
    let required = form.iter().filter(|of| of.is("required")).map(|of| Json::Text(name(of).into()));
    first.with_value(&Json::Map(
        [
            ("type".into(), Json::Text("object".into())),
            ("required".into(), Json::List(required.collect())),
            ("properties".into(), Json::Map(properties)),
        ]
        .into(),
    ))
}

fn is_in_query(of: &SpecValue) -> bool {
    of.text("in") == Some("query")
}

/// Returns the values that a sample request sends for a parameter.
fn sample_values(of: &SpecValue, value: Option<&Json>) -> Vec<String> {
    match value {
        None | Some(Json::Null) => Vec::new(),
        Some(Json::List(items)) if of.value.get("content").is_none() => {
            let items: Vec<String> = items.iter().take(MAX_VALUES).map(line).collect();
            match query_separator(of) {
                None if is_in_query(of) => items,
                separator => vec![items.join(separator.unwrap_or(","))],
            }
        }
        Some(Json::Map(fields)) if !is_in_query(of) && of.value.get("content").is_none() => {
            let between = if of.is("explode") { "=" } else { "," };
            let fields = fields.iter().take(MAX_VALUES);
            let pairs: Vec<String> =
                fields.map(|(name, value)| format!("{name}{between}{}", line(value))).collect();
            vec![pairs.join(",")]
        }
        Some(value) => vec![line(value)],
    }
}

/// Returns the names and values that a sample request sends for a parameter of the query.
fn query_pairs(of: &SpecValue, value: Option<&Json>) -> Vec<(String, String)> {
    let name = of.text("name").unwrap_or_default();
    match value {
        Some(Json::Map(fields)) if of.value.get("content").is_none() => {
            let fields = fields.iter().take(MAX_VALUES);
            if of.text("style") == Some("deepObject") {
                let of_field = |(field, value): &(Rc<str>, Json)| {
                    let values = match value {
                        Json::List(items) => items.iter().take(MAX_VALUES).map(line).collect(),
                        value => vec![line(value)],
                    };
                    let name = format!("{name}[{field}]");
                    values.into_iter().map(move |value| (name.clone(), value)).collect::<Vec<_>>()
                };
                return fields.flat_map(of_field).take(MAX_VALUES).collect();
            }
            match query_separator(of) {
                None => fields.map(|(field, value)| (field.to_string(), line(value))).collect(),
                Some(separator) => {
                    let parts: Vec<String> =
                        fields.flat_map(|(field, value)| [field.to_string(), line(value)]).collect();
                    vec![(name.to_owned(), parts.join(separator))]
                }
            }
        }
        value => sample_values(of, value).into_iter().map(|value| (name.to_owned(), value)).collect(),
    }
}

/// Returns the separator of the items of a parameter, or `None` if each item is sent on its own.
fn query_separator(of: &SpecValue) -> Option<&'static str> {
    let separator = match of.text("collectionFormat").or_else(|| of.text("style")) {
        Some("ssv" | "spaceDelimited") => " ",
        Some("pipes" | "pipeDelimited") => "|",
        Some("tsv") => "\t",
        Some("multi") => return None,
        _ => ",",
    };
    // In Swagger 2.0, parameters without a format are separated by commas. The other styles are not exploded by
    // default.
    let is_form = matches!(of.text("style"), None | Some("form")) && of.value.get("schema").is_some();
    let explodes = of.value.get("explode").map_or(is_form, Json::is_true);
    if explodes && of.value.get("schema").is_some() { None } else { Some(separator) }
}

/// Returns the fields of a form from its example.
fn form_fields(example: Option<&Json>, schema: Option<&super::model::SchemaDetail>) -> Vec<FormFieldDetail> {
    let is_file = |name: &str| {
        let fields = schema.map(|schema| schema.fields.as_slice()).unwrap_or_default();
        let found = fields.iter().find(|field| field.name == super::model::FieldName::Exact(name.to_owned()));
        found.is_some_and(|field| {
            let of = field.schema.items.as_deref().unwrap_or(&field.schema);
            of.kind.contains("binary")
        })
    };
    let fields = example.map(Json::fields).unwrap_or_default().iter().take(MAX_VALUES);
    fields
        .map(|(name, value)| FormFieldDetail {
            name: name.to_string(),
            value: line(value),
            is_file: is_file(name),
        })
        .collect()
}
