//! The page at `/docs`, for reading the document and trying the API out.
//!
//! It is RapiDoc, the lightest of the pages that poem-openapi ships: 0.6 MB of script in the binary, where
//! openapi-explorer takes 1.0, redoc 1.0, swagger-ui 1.6 and scalar 3.2 MB. poem-openapi's own page around it asks a
//! font server on the web, and holds a copy of the document; ours asks nobody but this server, so it works without a
//! network, and the browser keeps the script.

use docs_core::platform::own_paths::EXPLORER;
use poem::{Endpoint, IntoResponse as _, Response, Route, endpoint::make_sync, web::Redirect};
use poem_openapi::OpenApiService;

use crate::{
    endpoints::{Fixed, ReadOnly},
    openapi::Problems,
};

const PAGE: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API</title>
<script src="docs/explorer.js" defer></script>
</head>
<body>
<rapi-doc spec-url="openapi.json" load-fonts="false" render-style="focused" show-header="false"
 allow-authentication="true" allow-try="true" show-components="true" schema-description-expanded="true"></rapi-doc>
</body>
</html>
"#;

/// Adds the page and its script. Their addresses are relative, so they work wherever a host mounts them.
pub(crate) fn mount(route: Route) -> Result<Route, Problems> {
    let script = script().ok_or_else(|| Problems::one("the explorer has no script"))?;
    Ok(route.at(format!("/{EXPLORER}"), ReadOnly(Fixed::new(PAGE, "text/html; charset=utf-8"))).at(
        format!("/{EXPLORER}/explorer.js"),
        ReadOnly(Fixed::new(script, "text/javascript; charset=utf-8")),
    ))
}

/// Leads from the root of the application to the page.
pub(crate) fn way_there() -> impl Endpoint<Output = Response> {
    ReadOnly(make_sync(|_| Redirect::see_other("docs").into_response()))
}

/// The script, which poem-openapi gives out only as part of its own page.
fn script() -> Option<String> {
    let page = OpenApiService::new((), "", "").rapidoc_html();
    let (_, rest) = page.split_once("<script charset=\"UTF-8\">")?;
    let (script, _) = rest.split_once("</script>")?;
    Some(script.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_asks_nobody_but_this_server() {
        assert!(!PAGE.contains("://"), "no address of another host");
        assert!(PAGE.contains("load-fonts=\"false\""), "the script would load fonts otherwise");
        let script = script().expect("poem-openapi ships the script");
        assert!(script.contains("rapi-doc") && script.len() > 100_000);
    }
}
