//! The effect of each nested site setting on the output.

use docs_core::model::{
    Announcement, Customization, Favicon, Footer, FooterGroup, Header, HeaderLink, PageActions, Sidebar,
    Styling, Themes, TitledLink,
};
use serde_json::{Value, json};

use crate::{settings::import, world::World};

/// The output that shows a setting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Page,
    Sheet,
    /// The icon that the server draws.
    Icon,
    /// `llms.txt`.
    Llms,
    /// No output, as documented in the decision on sites.
    Nowhere,
}

/// A setting, the output that shows it, and the values to test.
type Row = (&'static str, Where, Vec<Value>);

/// Fails to compile if a setting is added without a row.
fn all_are_known(look: &Customization) {
    let Customization { styling, favicon, header, footer, announcement, themes, page_actions, .. } = look;
    let Styling {
        theme: _,
        primary_color: _,
        tint: _,
        info_color: _,
        success_color: _,
        warning_color: _,
        danger_color: _,
        corners: _,
        depth: _,
        links: _,
        font: _,
        heading_font: _,
        monospace_font: _,
        code_theme: _,
        background: _,
        icons: _,
        sidebar: Sidebar { background: _, list: _ },
        search: _,
    } = styling;
    let Favicon { icon: _, emoji: _ } = favicon;
    let Header { preset: _, logo: _, primary_link: _, background_color: _, link_color: _, links } = header;
    for HeaderLink { title: _, localized_title: _, style: _, to: _, links: _, condition: _ } in links.iter() {
    }
    let Footer { logo: _, groups, copyright: _ } = footer;
    for FooterGroup { title: _, localized_title: _, links } in groups.iter() {
        for TitledLink { title: _, localized_title: _, to: _ } in links.iter() {}
    }
    if let Some(Announcement { enabled: _, message: _, localized_message: _, link: _, style: _ }) =
        announcement
    {}
    let Themes { default: _, toggeable: _ } = themes;
    let PageActions { items: _, external_ai: _, markdown: _, mcp: _ } = page_actions;
}

fn to(page: &str) -> Value {
    json!({ "kind": "url", "url": format!("https://a.test/{page}") })
}

fn link(title: &str) -> Value {
    json!({ "title": title, "to": to(title) })
}

fn both(one: &str) -> Value {
    json!({ "light": one, "dark": one })
}

/// Returns a customization where every setting has an effect.
fn rich() -> Value {
    let mut look = serde_json::to_value(Customization::default()).expect("JSON");
    // An omitted `localizedTitle` is unchanged.
    look["localizedTitle"] = json!({});
    look["header"] = json!({ "preset": "default",
        "links": [{ "title": "Shop", "to": to("shop"), "links": [] },
            { "title": "More", "to": null, "links": [link("jobs")] }] });
    look["footer"] = json!({ "groups": [{ "title": "About", "links": [link("us")] }] });
    look["announcement"] =
        json!({ "enabled": true, "message": "New", "link": link("news"), "style": "info" });
    look
}

fn rows_of_styling() -> Vec<Row> {
    use Where::{Nowhere, Sheet};
    let color = || vec![both("#112233"), json!({ "light": "#112233", "dark": "#445566" })];
    let font = |family: &str| {
        json!({ "id": family, "custom": true, "fontFamily": family,
            "fontFaces": [{ "weight": 400, "sources": [{ "url": "https://a.test/f.woff2" }] }] })
    };
    vec![
        ("/styling/theme", Sheet, vec![json!("muted"), json!("bold"), json!("gradient")]),
        ("/styling/primaryColor", Sheet, color()),
        ("/styling/tint", Sheet, vec![json!({ "color": both("#112233") })]),
        ("/styling/infoColor", Sheet, color()),
        ("/styling/successColor", Sheet, color()),
        ("/styling/warningColor", Sheet, color()),
        ("/styling/dangerColor", Sheet, color()),
        ("/styling/corners", Sheet, vec![json!("straight"), json!("circular")]),
        ("/styling/depth", Sheet, vec![json!("flat")]),
        ("/styling/links", Sheet, vec![json!("accent")]),
        ("/styling/font", Sheet, vec![json!("Merriweather"), json!("Roboto"), font("My Own")]),
        ("/styling/headingFont", Sheet, vec![json!("Merriweather"), font("My Own")]),
        ("/styling/codeTheme", Nowhere, Vec::new()),
        ("/styling/monospaceFont", Sheet, vec![json!("FiraCode"), font("My Own")]),
        ("/styling/background", Sheet, vec![json!("match")]),
        ("/styling/icons", Nowhere, Vec::new()),
        ("/styling/sidebar/background", Sheet, vec![json!("filled")]),
        ("/styling/sidebar/list", Sheet, vec![json!("pill"), json!("line")]),
        ("/styling/search", Sheet, vec![json!("prominent")]),
    ]
}

fn rows_of_what_is_around_pages() -> Vec<Row> {
    use Where::{Icon, Page, Sheet};
    let picture = || vec![both("https://a.test/a.png"), both("https://a.test/b.png")];
    let texts = || vec![json!("One"), json!("Two")];
    let variants = || vec![json!({ "en": "Variant" }), json!({ "en": "Another", "de": "Anders" })];
    let presets = ["bold", "contrast", "custom", "none"].map(Value::from).to_vec();
    let styles = ["button-primary", "button-secondary"].map(Value::from).to_vec();
    let kinds = ["warning", "danger", "success"].map(Value::from).to_vec();
    let languages = ["fr", "es", "zh", "ja", "de", "nl", "no", "pt-br", "ru"].map(Value::from).to_vec();
    vec![
        ("/title", Page, texts()),
        ("/localizedTitle", Page, variants()),
        ("/internationalization/locale", Page, languages),
        ("/favicon/icon", Page, picture()),
        ("/favicon/emoji", Icon, vec![json!("1f680"), json!("1f4d5")]),
        ("/header/preset", Sheet, presets),
        ("/header/logo", Page, picture()),
        ("/header/primaryLink", Page, vec![to("start")]),
        ("/header/backgroundColor", Sheet, vec![both("#112233")]),
        ("/header/linkColor", Sheet, vec![both("#112233")]),
        ("/header/links/0/title", Page, texts()),
        ("/header/links/0/localizedTitle", Page, variants()),
        ("/header/links/0/style", Page, styles),
        ("/header/links/0/to", Page, vec![to("elsewhere")]),
        ("/header/links/0/condition", Page, vec![json!("visitor.claims.customer == true")]),
        ("/header/links/1/links", Page, vec![json!([link("one")]), json!([link("one"), link("two")])]),
        ("/footer/logo", Page, picture()),
        ("/footer/groups/0/title", Page, texts()),
        ("/footer/groups/0/localizedTitle", Page, variants()),
        ("/footer/groups/0/links/0/title", Page, texts()),
        ("/footer/groups/0/links/0/localizedTitle", Page, variants()),
        ("/footer/groups/0/links/0/to", Page, vec![to("elsewhere")]),
        ("/footer/copyright", Page, texts()),
        ("/announcement/enabled", Page, vec![json!(false)]),
        ("/announcement/message", Page, texts()),
        ("/announcement/localizedMessage", Page, variants()),
        ("/announcement/link", Page, vec![Value::Null, link("else")]),
        ("/announcement/style", Page, kinds),
    ]
}

fn rows_of_pages() -> Vec<Row> {
    use Where::{Llms, Nowhere, Page};
    let urls = || vec![json!("https://a.test/one"), json!("https://a.test/two")];
    let account = |footer: bool, header: bool| json!([{ "platform": "github", "handle": "engines", "display": { "footer": footer, "header": header } }]);
    vec![
        ("/themes/default", Page, vec![json!("dark"), json!("system")]),
        ("/themes/toggeable", Page, vec![json!(false)]),
        ("/git/showEditLink", Page, vec![json!(true)]),
        ("/pageActions/items", Page, vec![json!(["mcp", "pdf"]), json!(["git", "markdown"])]),
        ("/pageActions/externalAI", Nowhere, Vec::new()),
        ("/pageActions/markdown", Page, vec![json!(false)]),
        ("/pageActions/mcp", Llms, vec![json!(false)]),
        ("/externalLinks/target", Page, vec![json!("blank")]),
        ("/pagination/enabled", Page, vec![json!(false)]),
        ("/privacyPolicy/url", Page, urls()),
        ("/socialAccounts", Page, vec![account(true, false), account(false, true), account(true, true)]),
        ("/socialPreview/url", Page, urls()),
        ("/pdf/enabled", Nowhere, Vec::new()),
        ("/feedback/enabled", Nowhere, Vec::new()),
        ("/ai/mode", Nowhere, Vec::new()),
        ("/advancedCustomization/enabled", Nowhere, Vec::new()),
        ("/trademark/enabled", Nowhere, Vec::new()),
        ("/insights/trackingCookie", Nowhere, Vec::new()),
    ]
}

/// Collects the pointers of all nested values, except those below a pointer that has a row.
fn leaves(value: &Value, at: &str, rows: &[Row], out: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        _ if rows.iter().any(|(pointer, ..)| *pointer == at) => return,
        Value::Object(fields) => fields.iter().map(|(name, it)| (name.clone(), it)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, it)| (at.to_string(), it)).collect(),
        _ => Vec::new(),
    };
    if children.is_empty() {
        out.push(at.to_owned());
    }
    for (name, it) in children {
        leaves(it, &format!("{at}/{name}"), rows, out);
    }
}

/// Sets the value at a pointer, and creates it if necessary.
fn set(look: &mut Value, pointer: &str, value: Value) {
    let (above, name) = pointer.rsplit_once('/').expect("a pointer");
    let above = look.pointer_mut(above).and_then(Value::as_object_mut).expect("an object");
    if value.is_null() {
        above.remove(name);
    } else {
        above.insert(name.to_owned(), value);
    }
}

/// Returns the output that shows a setting. The name of the style sheet is removed from a page, because it changes with
/// the content of the style sheet.
async fn shown(w: &World, path: &str, at: Where) -> String {
    let page = w.html(&format!("{path}second")).await;
    let (before, rest) = page.split_once("~site/theme.").expect("a sheet");
    let (hash, behind) = rest.split_once('"').expect("its end");
    match at {
        Where::Page => format!("{before}{behind}"),
        Where::Sheet => w.html(&format!("{path}~site/theme.{hash}")).await,
        Where::Icon => w.html(&format!("{path}~site/icon.svg")).await,
        Where::Llms => w.html(&format!("{path}llms.txt")).await,
        Where::Nowhere => String::new(),
    }
}

#[tokio::test]
async fn each_nested_setting_changes_output_or_is_documented() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.git.put("second.md", "# Second\n\n[out](https://a.test)\n");
    w.git.put("SUMMARY.md", "# Table of contents\n\n* [Welcome](README.md)\n* [Second](second.md)\n");
    import(&w, &space, json!({ "repoTreeURL": "https://github.com/o/docs/tree/main" })).await;
    let (site, path) = w.site("Docs", &space).await;
    all_are_known(&serde_json::from_value(rich()).expect("a look"));
    let rows: Vec<Row> =
        [rows_of_styling(), rows_of_what_is_around_pages(), rows_of_pages()].into_iter().flatten().collect();
    let mut unknown = Vec::new();
    leaves(&rich(), "", &rows, &mut unknown);
    let known = ["/favicon", "/header/links/0/links", "/header/links/1/title", "/header/links/1/to"];
    // Empty values are covered by the rows for their content.
    assert_eq!(unknown, [&known[..], &["/privacyPolicy", "/socialPreview"]].concat());
    let note = include_str!("../../../decisions/0027-site.md");
    let (_, note) = note.split_once("**Settings without an effect.**").expect("a part");
    let note = note.split("\n\n").next().expect("a part");
    for (pointer, at, values) in rows {
        if at == Where::Nowhere {
            let path = pointer.trim_start_matches('/').replace('/', ".");
            let above = path.split('.').next().expect("a name");
            let is_named = [above, path.as_str()].iter().any(|name| note.contains(&format!("`{name}`")));
            assert!(is_named, "{pointer} is not named");
            continue;
        }
        let mut seen = Vec::new();
        for value in std::iter::once(None).chain(values.into_iter().map(Some)) {
            let mut look = rich();
            // Header colors only apply to the custom preset.
            if pointer.starts_with("/header/") && pointer.ends_with("Color") {
                look["header"]["preset"] = "custom".into();
            }
            if let Some(value) = &value {
                set(&mut look, pointer, value.clone());
            }
            w.look(&site, look).await;
            let now = shown(&w, &path, at).await;
            assert!(!seen.contains(&now), "{pointer}: {value:?} changes nothing");
            seen.push(now);
        }
    }
}
