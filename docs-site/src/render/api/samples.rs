//! Sample requests in several languages.

use std::{collections::HashMap, fmt::Write as _};

use docs_core::platform::{
    BodyDetail, FormFieldDetail, OperationDetail, ParameterDetail, SchemeDetail, SchemeKind,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The maximum length of a line of a sample request, in characters.
const MAX_LINE: usize = 2_000;
/// The characters of a name or value in the query that are not encoded: also the separator of lists. Brackets are
/// encoded, because curl expands them.
const QUERY: &AsciiSet = &UNRESERVED.remove(b',');
/// The characters of an address that are not encoded.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// A value without an example.
const UNKNOWN: &str = "…";

/// A language of generated samples.
pub(super) struct SampleLanguage {
    /// The title of its tab.
    pub(super) title: &'static str,
    /// The language of syntax highlighting.
    pub(super) syntax: &'static str,
    /// The names of the language in specifications. A sample in a specification replaces the generated one.
    names: &'static [&'static str],
    pub(super) print: fn(&SampleRequest) -> String,
}

impl SampleLanguage {
    /// Returns `true` for a name of the language, regardless of case.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.names.iter().any(|known| name.eq_ignore_ascii_case(known))
    }
}

/// The languages of generated samples, in the order of their tabs.
pub(super) const LANGUAGES: [SampleLanguage; 4] = [
    SampleLanguage {
        title: "curl",
        syntax: "bash",
        names: &["bash", "curl", "sh", "shell", "shell curl", "cli"],
        print: SampleRequest::curl,
    },
    SampleLanguage {
        title: "JavaScript",
        syntax: "javascript",
        names: &["javascript", "js", "node", "node.js", "nodejs", "typescript", "ts", "fetch"],
        print: SampleRequest::javascript,
    },
    SampleLanguage {
        title: "Python",
        syntax: "python",
        names: &["python", "python3", "py"],
        print: SampleRequest::python,
    },
    SampleLanguage { title: "Go", syntax: "go", names: &["go", "golang"], print: SampleRequest::go },
];

/// A request that samples send.
#[derive(Debug, Default)]
pub(super) struct SampleRequest {
    /// The method in upper case.
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: SampleBody,
}

#[derive(Debug, Default)]
enum SampleBody {
    #[default]
    None,
    /// A valid JSON document.
    Json(String),
    Text(String),
    UrlEncoded(Vec<(String, String)>),
    Multipart(Vec<FormFieldDetail>),
}

impl SampleRequest {
    pub(super) fn new(method: &str, path: &str, of: &OperationDetail) -> Self {
        let server = of.servers.first().map(|server| server.url.as_str()).unwrap_or_default();
        let mut query: Vec<String> = Vec::new();
        let mut headers = Vec::new();
        let mut cookies: Vec<String> = Vec::new();
        for parameter in of.parameters.iter().filter(|of| of.required) {
            let first = || parameter.sample.first().map_or(UNKNOWN, String::as_str);
            match parameter.location.as_str() {
                "query" if parameter.query.is_empty() => query.push(pair(&parameter.name, UNKNOWN)),
                "query" => query.extend(parameter.query.iter().map(|(name, value)| pair(name, value))),
                "header" => headers.push((parameter.name.clone(), first().to_owned())),
                "cookie" => cookies.push(format!("{}={}", parameter.name, first())),
                _ => {}
            }
        }
        for scheme in of.security.first().into_iter().flatten() {
            match credentials(scheme) {
                Some(Credentials::Header(name, value)) => headers.push((name, value)),
                Some(Credentials::Query(name)) => query.push(pair(&name, "YOUR_API_KEY")),
                Some(Credentials::Cookie(name)) => cookies.push(format!("{name}=YOUR_API_KEY")),
                None => {}
            }
        }
        if !cookies.is_empty() {
            headers.push(("Cookie".to_owned(), cookies.join("; ")));
        }
        let (content_type, body) = match of.request.as_ref().and_then(|request| request.bodies.first()) {
            Some(body) => sample_body(body),
            None => (None, SampleBody::None),
        };
        headers.extend(content_type.map(|value| ("Content-Type".to_owned(), value)));
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        let path = fill_path(path, &of.parameters);
        let url = one_line(&format!("{}{path}{query}", server.trim_end_matches('/')));
        for (name, value) in &mut headers {
            (*name, *value) = (one_line(name), one_line(value));
        }
        Self { method: method.to_uppercase(), url, headers, body }
    }

    /// The request as a command of curl.
    fn curl(&self) -> String {
        let mut lines = vec![match self.method.as_str() {
            "HEAD" => format!("curl --head {}", shell(&self.url)),
            method => format!("curl -X {method} {}", shell(&self.url)),
        }];
        let header = |(name, value): &(String, String)| format!("-H {}", shell(&format!("{name}: {value}")));
        lines.extend(self.headers.iter().map(header));
        match &self.body {
            SampleBody::None => {}
            SampleBody::Json(text) | SampleBody::Text(text) => {
                lines.push(format!("--data-raw {}", shell(text)));
            }
            SampleBody::UrlEncoded(pairs) => {
                let data = |(name, value): &(String, String)| format!("{}={}", encode(name), encode(value));
                lines.extend(pairs.iter().map(|pair| format!("-d {}", shell(&data(pair)))));
            }
            SampleBody::Multipart(fields) => lines.extend(fields.iter().map(|field| match field.is_file {
                true => format!("-F {}", shell(&format!("{}=@file", field.name))),
                false => format!("--form-string {}", shell(&format!("{}={}", field.name, field.value))),
            })),
        }
        lines.join(" \\\n  ")
    }

    /// The request as a call of `fetch`.
    fn javascript(&self) -> String {
        let mut out = String::new();
        let can_have_body = !matches!(self.method.as_str(), "GET" | "HEAD");
        let body = match &self.body {
            _ if !can_have_body => None,
            SampleBody::None => None,
            // A literal with this field sets the prototype of the object.
            SampleBody::Json(text) if !text.contains("__proto__") => {
                Some(format!("JSON.stringify({})", indent(text, "  ")))
            }
            SampleBody::Json(text) | SampleBody::Text(text) => Some(literal(text)),
            SampleBody::UrlEncoded(pairs) => {
                let pairs =
                    pairs.iter().map(|(name, value)| format!("[{}, {}]", literal(name), literal(value)));
                Some(format!("new URLSearchParams([{}])", pairs.collect::<Vec<_>>().join(", ")))
            }
            SampleBody::Multipart(fields) => {
                out.push_str("const form = new FormData();\n");
                for field in fields {
                    let value = if field.is_file { "file".to_owned() } else { literal(&field.value) };
                    let _ = writeln!(out, "form.append({}, {value});", literal(&field.name));
                }
                Some("form".to_owned())
            }
        };
        let _ = write!(
            out,
            "const response = await fetch({}, {{\n  method: {},\n",
            literal(&self.url),
            literal(&self.method)
        );
        if !self.headers.is_empty() {
            out.push_str("  headers: {\n");
            for (name, value) in &self.headers {
                let _ = writeln!(out, "    {}: {},", literal(name), literal(value));
            }
            out.push_str("  },\n");
        }
        if let Some(body) = body {
            let _ = writeln!(out, "  body: {body},");
        }
        out.push_str("});\nconsole.log(response.status, await response.text());");
        out
    }

    fn python(&self) -> String {
        let mut out = "import requests\n\n".to_owned();
        let method = literal(&self.method);
        let _ = write!(out, "response = requests.request(\n    {method},\n    {},\n", literal(&self.url));
        if !self.headers.is_empty() {
            out.push_str("    headers={\n");
            for (name, value) in &self.headers {
                let _ = writeln!(out, "        {}: {},", literal(name), literal(value));
            }
            out.push_str("    },\n");
        }
        match &self.body {
            SampleBody::None => {}
            SampleBody::Json(text) => {
                let _ = writeln!(out, "    json={},", indent(&python_literal(text), "    "));
            }
            SampleBody::Text(text) => {
                let _ = writeln!(out, "    data={}.encode(),", literal(text));
            }
            SampleBody::UrlEncoded(pairs) => {
                let pairs =
                    pairs.iter().map(|(name, value)| format!("({}, {})", literal(name), literal(value)));
                let _ = writeln!(out, "    data=[{}],", pairs.collect::<Vec<_>>().join(", "));
            }
            SampleBody::Multipart(fields) => {
                let field = |field: &FormFieldDetail| match field.is_file {
                    true => format!("        ({}, open(\"file\", \"rb\")),\n", literal(&field.name)),
                    // Without a file name, the field is a text.
                    false => {
                        format!("        ({}, (None, {})),\n", literal(&field.name), literal(&field.value))
                    }
                };
                let _ = writeln!(out, "    files=[\n{}    ],", fields.iter().map(field).collect::<String>());
            }
        }
        out.push_str(")\nprint(response.status_code, response.text)");
        out
    }

    /// The request as a program in Go.
    fn go(&self) -> String {
        let mut imports = vec!["fmt", "io", "net/http"];
        let mut before = String::new();
        let mut form_type = "";
        let body = match &self.body {
            SampleBody::None => "nil".to_owned(),
            SampleBody::Json(text) | SampleBody::Text(text) => {
                imports.push("strings");
                let _ = writeln!(before, "\tbody := strings.NewReader({})", go_literal(text));
                "body".to_owned()
            }
            SampleBody::UrlEncoded(pairs) => {
                imports.push("strings");
                let pairs: Vec<String> =
                    pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
                let _ = writeln!(before, "\tbody := strings.NewReader({})", literal(&pairs.join("&")));
                form_type = "\trequest.Header.Set(\"Content-Type\", \"application/x-www-form-urlencoded\")\n";
                "body".to_owned()
            }
            SampleBody::Multipart(fields) => {
                imports.extend(["bytes", "mime/multipart"]);
                before.push_str("\tvar body bytes.Buffer\n\tform := multipart.NewWriter(&body)\n");
                for field in fields {
                    let name = literal(&field.name);
                    let _ = match field.is_file {
                        true => {
                            imports.push("os");
                            writeln!(
                                before,
                                "\tif part, err := form.CreateFormFile({name}, \"file\"); err == nil {{\n\t\tcontent, _ := os.ReadFile(\"file\")\n\t\tpart.Write(content)\n\t}}"
                            )
                        }
                        false => writeln!(before, "\tform.WriteField({name}, {})", literal(&field.value)),
                    };
                }
                before.push_str("\tform.Close()\n");
                form_type = "\trequest.Header.Set(\"Content-Type\", form.FormDataContentType())\n";
                "&body".to_owned()
            }
        };
        imports.sort_unstable();
        imports.dedup();
        let imports: String = imports.iter().map(|name| format!("\t\"{name}\"\n")).collect();
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| format!("\trequest.Header.Set({}, {})\n", literal(name), literal(value)));
        let headers: String = headers.collect();
        let (method, url) = (literal(&self.method), literal(&self.url));
        format!(
            "package main\n\nimport (\n{imports})\n\nfunc main() {{\n{before}\
             \trequest, err := http.NewRequest({method}, {url}, {body})\n\tif err != nil {{\n\t\tpanic(err)\n\t}}\n\
             {headers}{form_type}\
             \tresponse, err := http.DefaultClient.Do(request)\n\tif err != nil {{\n\t\tpanic(err)\n\t}}\n\
             \tdefer response.Body.Close()\n\ttext, _ := io.ReadAll(response.Body)\n\
             \tfmt.Println(response.Status, string(text))\n}}"
        )
    }
}

enum Credentials {
    Header(String, String),
    Query(String),
    Cookie(String),
}

fn credentials(scheme: &SchemeDetail) -> Option<Credentials> {
    let authorization = |value: String| Some(Credentials::Header("Authorization".to_owned(), value));
    match &scheme.kind {
        SchemeKind::ApiKey { location, name } => Some(match location.as_str() {
            "query" => Credentials::Query(name.clone()),
            "cookie" => Credentials::Cookie(name.clone()),
            _ => Credentials::Header(name.clone(), "YOUR_API_KEY".to_owned()),
        }),
        SchemeKind::Http(scheme) => match scheme.as_str() {
            "bearer" | "" => authorization("Bearer YOUR_TOKEN".to_owned()),
            "basic" => authorization("Basic BASE64_OF_USER_AND_PASSWORD".to_owned()),
            other => {
                let mut name = other.to_owned();
                name.get_mut(..1).map(str::make_ascii_uppercase);
                authorization(format!("{name} YOUR_CREDENTIALS"))
            }
        },
        SchemeKind::OAuth2 | SchemeKind::OpenIdConnect => authorization("Bearer YOUR_TOKEN".to_owned()),
        _ => None,
    }
}

/// Returns the content type, unless the client sets it, and the body.
fn sample_body(of: &BodyDetail) -> (Option<String>, SampleBody) {
    if of.name.starts_with("multipart/form-data") {
        return (None, SampleBody::Multipart(of.form.clone()));
    }
    if of.name.starts_with("application/x-www-form-urlencoded") {
        let pairs = of.form.iter().map(|field| (field.name.clone(), field.value.clone()));
        return (None, SampleBody::UrlEncoded(pairs.collect()));
    }
    let body = match of.examples.first().filter(|example| example.address.is_none()) {
        None => SampleBody::None,
        Some(example) if example.is_cut => SampleBody::Text(UNKNOWN.to_owned()),
        Some(example) if of.name.contains("json") && is_json(&example.value) => {
            SampleBody::Json(example.value.clone())
        }
        Some(example) => SampleBody::Text(example.value.clone()),
    };
    (Some(of.name.clone()), body)
}

/// Returns `true` if a sample request with a body contains its first example. That of a form is an object.
pub(super) fn contains_example(of: &BodyDetail) -> bool {
    let is_object = |text: &str| serde_json::from_str::<HashMap<String, serde::de::IgnoredAny>>(text).is_ok();
    match (of.examples.first(), sample_body(of).1) {
        (None, _) => true,
        (Some(example), SampleBody::UrlEncoded(_) | SampleBody::Multipart(_)) => is_object(&example.value),
        (Some(example), _) => example.address.is_none() && !example.is_cut,
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Replaces the parameters of a path by their examples. Those without an example keep their names.
fn fill_path(path: &str, parameters: &[ParameterDetail]) -> String {
    let is_known = |of: &&ParameterDetail| {
        let schema = &of.schema;
        !of.examples.is_empty()
            || !schema.examples.is_empty()
            || schema.default.is_some()
            || !schema.values.is_empty()
    };
    let mut filled = path.to_owned();
    for parameter in parameters.iter().filter(|of| of.location == "path").filter(is_known) {
        if let Some(value) = parameter.sample.first() {
            filled = filled.replace(&format!("{{{}}}", parameter.name), &encode(value));
        }
    }
    filled
}

fn pair(name: &str, value: &str) -> String {
    let encode = |text| utf8_percent_encode(text, QUERY).to_string();
    let value = if value == UNKNOWN { UNKNOWN.to_owned() } else { encode(value) };
    format!("{}={value}", encode(name))
}

/// Encodes a part of an address.
fn encode(text: &str) -> String {
    utf8_percent_encode(text, UNRESERVED).to_string()
}

/// Returns the first characters of a text, with spaces for control characters.
fn one_line(text: &str) -> String {
    text.chars().take(MAX_LINE).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns a text as one word of a shell. Nothing within single quotes has a meaning.
fn shell(text: &str) -> String {
    format!("'{}'", text.replace('\0', "").replace('\'', "'\\''"))
}

/// Returns a text as a literal of JSON, which JavaScript, Python and Go read as well.
fn literal(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Returns a text as a literal of Go, between backquotes if possible.
fn go_literal(text: &str) -> String {
    let is_raw = text.contains('\n') && !text.contains(['`', '\r', '\0', '\u{feff}']);
    if is_raw { format!("`{text}`") } else { literal(text) }
}

/// Indents the lines of a text after the first one.
fn indent(text: &str, by: &str) -> String {
    text.replace('\n', &format!("\n{by}"))
}

/// Returns a JSON document as a literal of Python.
fn python_literal(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let (written, length) = if first == '"' {
            let end = end_of_text(rest);
            (rest.get(..end).unwrap_or_default(), end)
        } else {
            let names = [("true", "True"), ("false", "False"), ("null", "None")];
            match names.into_iter().find(|(name, _)| rest.starts_with(name)) {
                Some((name, python)) => (python, name.len()),
                None => (rest.get(..first.len_utf8()).unwrap_or_default(), first.len_utf8()),
            }
        };
        out.push_str(written);
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

/// Returns the end of the JSON text that begins a document.
fn end_of_text(json: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in json.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    json.len()
}

#[cfg(test)]
mod tests;
