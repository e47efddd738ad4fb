//! Customization of sites and their spaces: set values are returned, and explicit changes differ from omitted fields.

use docs_core::{
    ErrorKind,
    model::{Customization, CustomizationOverride, SiteId, SiteSpaceId},
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Published, kind, published};
use crate::support::{World, block_on};

pub(super) async fn retitle(w: &World, site: &SiteId, place: &SiteSpaceId, title: &str) {
    let change = serde_json::from_value(json!({ "title": title })).expect("a change");
    let answer = w.as_admin().org(&w.org).site(site).space(place).override_customization(change).await;
    assert_eq!(answer.expect("changed").title.expect("a title").as_str(), title);
}

pub(super) async fn set_everything(w: &World, one: &Published) {
    let look = Customization { title: "Title".parse().ok(), ..Customization::default() };
    w.as_admin().org(&w.org).site(&one.site).set_customization(look).await.expect("set");
    retitle(w, &one.site, &one.place, "Place").await;
}

fn pick(values: &'static [&'static str]) -> BoxedStrategy<Value> {
    prop::sample::select(values).prop_map(Value::from).boxed()
}

fn text(form: &'static str) -> BoxedStrategy<Value> {
    form.prop_map(Value::from).boxed()
}

fn switch() -> BoxedStrategy<Value> {
    any::<bool>().prop_map(Value::from).boxed()
}

/// Generates an object with these fields.
fn object(fields: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let (names, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    let fields =
        values.prop_map(move |values| names.iter().map(|name| (*name).to_owned()).zip(values).collect());
    fields.prop_map(|fields: Map<String, Value>| Value::Object(fields)).boxed()
}

fn color() -> BoxedStrategy<Value> {
    let color = || text("#([0-9a-fA-F]{3}){1,2}");
    object(vec![("light", color()), ("dark", color())])
}

fn url() -> BoxedStrategy<Value> {
    text("https?://[a-z]{1,8}\\.example/[a-zA-Z0-9/?=&.]{0,20}")
}

fn logo() -> BoxedStrategy<Value> {
    object(vec![("light", url()), ("dark", url())])
}

fn reference() -> BoxedStrategy<Value> {
    prop_oneof![
        url().prop_map(|url| json!({ "kind": "url", "url": url })),
        "[a-z0-9]{26}".prop_map(|id| json!({ "kind": "page", "page": id })),
        "[a-z0-9]{26}".prop_map(|id| json!({ "kind": "anchor", "anchor": "top", "page": id, "space": id })),
        Just(json!({ "kind": "openapi", "spec": "pets" })),
    ]
    .boxed()
}

fn links() -> BoxedStrategy<Value> {
    let link = object(vec![("title", text("[^\\x00]{0,64}")), ("to", reference())]);
    prop::collection::vec(link, 0..4).prop_map(Value::from).boxed()
}

fn header_links() -> BoxedStrategy<Value> {
    let condition = pick(&["visitor.claims.beta", "!(1 < 2)", "visitor.claims.plan == \"pro\" // paying"]);
    let link = (
        object(vec![
            ("title", text("[^\\x00]{0,100}")),
            ("to", prop_oneof![Just(Value::Null), reference()].boxed()),
            ("links", links()),
        ]),
        prop::option::of(condition),
        prop::option::of(pick(&["link", "button-primary", "button-secondary"])),
    );
    let link = link.prop_map(|(mut link, condition, style)| {
        for (name, value) in [("condition", condition), ("style", style)] {
            if let Some(value) = value {
                link[name] = value;
            }
        }
        link
    });
    prop::collection::vec(link, 0..4).prop_map(Value::from).boxed()
}

fn code_theme() -> BoxedStrategy<Value> {
    let theme = || pick(&["default-light", "dracula", "synthwave-84", "rose-pine-moon"]);
    object(vec![("light", theme()), ("dark", theme())])
}

fn accounts() -> BoxedStrategy<Value> {
    let account = object(vec![
        ("platform", pick(&["github", "linkedin", "youtube"])),
        ("handle", text("[^\\x00]{1,128}")),
        ("display", object(vec![("footer", switch()), ("header", switch())])),
    ]);
    prop::collection::vec(account, 0..3).prop_map(Value::from).boxed()
}

fn font(named: &'static [&'static str]) -> BoxedStrategy<Value> {
    let source = (url(), prop::option::of(pick(&["woff", "woff2"]))).prop_map(|(url, format)| match format {
        Some(format) => json!({ "url": url, "format": format }),
        None => json!({ "url": url }),
    });
    let face = (1..=1000_u16, prop::collection::vec(source, 1..3))
        .prop_map(|(weight, sources)| json!({ "weight": weight, "sources": sources }));
    let defined = ("[a-z]{1,9}", any::<bool>(), "[A-Za-z ]{1,50}", prop::collection::vec(face, 1..3)).prop_map(
        |(id, custom, family, faces)| json!({ "id": id, "custom": custom, "fontFamily": family, "fontFaces": faces }),
    );
    prop_oneof![3 => pick(named), 1 => defined].boxed()
}

type Values = Vec<(&'static str, BoxedStrategy<Value>)>;

/// Returns the values that an override may contain, by path.
fn values() -> Values {
    let values: [Values; 3] = [others(), styling(), switches()];
    values.into_iter().flatten().collect()
}

fn styling() -> Values {
    vec![
        ("styling.theme", pick(&["clean", "muted", "bold", "gradient"])),
        ("styling.primaryColor", color()),
        ("styling.tint", object(vec![("color", color())])),
        ("styling.infoColor", color()),
        ("styling.successColor", color()),
        ("styling.warningColor", color()),
        ("styling.dangerColor", color()),
        ("styling.corners", pick(&["straight", "rounded", "circular"])),
        ("styling.depth", pick(&["subtle", "flat"])),
        ("styling.links", pick(&["default", "accent"])),
        (
            "styling.font",
            font(&[
                "ABCFavorit",
                "Inter",
                "Roboto",
                "RobotoSlab",
                "OpenSans",
                "SourceSansPro",
                "Lato",
                "Ubuntu",
                "Raleway",
                "Merriweather",
                "Overpass",
                "NotoSans",
                "IBMPlexSerif",
                "Poppins",
                "FiraSans",
            ]),
        ),
        (
            "styling.monospaceFont",
            font(&[
                "FiraCode",
                "IBMPlexMono",
                "JetBrainsMono",
                "SourceCodePro",
                "RobotoMono",
                "SpaceMono",
                "DMMono",
                "Inconsolata",
            ]),
        ),
        ("styling.codeTheme.default", code_theme()),
        ("styling.codeTheme.openapi", code_theme()),
        ("styling.background", pick(&["plain", "match"])),
        ("styling.icons", pick(&["regular", "solid", "duotone", "light", "thin"])),
        ("styling.search", pick(&["prominent", "subtle"])),
        ("styling.sidebar.background", pick(&["default", "filled"])),
        ("styling.sidebar.list", pick(&["default", "pill", "line"])),
    ]
}

fn others() -> Values {
    vec![
        ("title", text("[^\\x00]{2,128}")),
        (
            "favicon",
            prop_oneof![
                Just(json!({})),
                text("[🚀🎉📘]").prop_map(|emoji| json!({ "emoji": emoji })),
                logo().prop_map(|icon| json!({ "icon": icon })),
            ]
            .boxed(),
        ),
        (
            "announcement",
            object(vec![
                ("enabled", switch()),
                ("message", text("[^\\x00]{2,128}")),
                ("style", pick(&["info", "warning", "danger", "success"])),
                ("link", object(vec![("title", text("[^\\x00]{0,64}")), ("to", reference())])),
            ]),
        ),
        (
            "internationalization.locale",
            pick(&["en", "fr", "es", "zh", "ja", "de", "nl", "no", "pt-br", "ru"]),
        ),
        ("header.preset", pick(&["default", "bold", "contrast", "custom", "none"])),
        ("header.logo", logo()),
        ("header.primaryLink", reference()),
        ("header.backgroundColor", color()),
        ("header.linkColor", color()),
        ("header.links", header_links()),
        ("footer.logo", logo()),
        (
            "footer.groups",
            prop::collection::vec(object(vec![("title", text("[^\\x00]{0,100}")), ("links", links())]), 0..3)
                .prop_map(Value::from)
                .boxed(),
        ),
        ("footer.copyright", text("[^\\x00]{0,512}")),
    ]
}

fn switches() -> Values {
    vec![
        ("themes.default", pick(&["light", "dark", "system"])),
        ("themes.toggeable", switch()),
        ("pdf.enabled", switch()),
        ("feedback.enabled", switch()),
        ("git.showEditLink", switch()),
        ("externalLinks.target", pick(&["self", "blank"])),
        ("pagination.enabled", switch()),
        ("trademark.enabled", switch()),
        ("privacyPolicy.url", url()),
        ("socialPreview.url", url()),
    ]
}

/// Returns the values that only a site can have.
fn own_values() -> Values {
    vec![
        ("ai.mode", pick(&["none", "search", "assistant"])),
        ("ai.greeting", text("[^\\x00]{0,256}")),
        ("ai.suggestions", prop::collection::vec("[a-z]{3,64}", 0..5).prop_map(Value::from).boxed()),
        ("ai.instructions", text("[^\\x00]{0,500}")),
        ("styling.headingFont", font(&["Inter", "Merriweather"])),
        ("socialAccounts", accounts()),
        ("advancedCustomization.enabled", switch()),
        ("pageActions.externalAI", switch()),
        ("pageActions.markdown", switch()),
        ("pageActions.mcp", switch()),
        ("insights.trackingCookie", switch()),
    ]
}

/// Generates a subset of these values, with their paths.
fn some(values: Values, null: u32) -> BoxedStrategy<Vec<(&'static str, Value)>> {
    let (names, values): (Vec<_>, Vec<_>) = values.into_iter().unzip();
    let value = values.into_iter().map(move |value| {
        prop_oneof![3 => Just(None), 3 => value.prop_map(Some), null => Just(Some(Value::Null))].boxed()
    });
    let some = value.collect::<Vec<_>>().prop_map(move |values| {
        names.iter().copied().zip(values).filter_map(|(name, value)| Some((name, value?))).collect()
    });
    some.boxed()
}

fn put(whole: &mut Value, path: &str, value: Value) {
    let mut at = whole;
    for name in path.split('.') {
        at = &mut at[name];
    }
    *at = value;
}

fn default_look() -> Value {
    serde_json::to_value(Customization::default()).expect("JSON")
}

fn with(mut whole: Value, values: &[(&'static str, Value)]) -> Value {
    for (path, value) in values {
        put(&mut whole, path, value.clone());
    }
    whole
}

/// Updates the list of page actions of a customization, which had these actions, after a change of its switches.
fn with_actions(mut look: Value, known: &Value) -> Value {
    let switches = [
        ("external-ai", "/pageActions/externalAI"),
        ("markdown", "/pageActions/markdown"),
        ("mcp", "/pageActions/mcp"),
        ("git", "/git/showEditLink"),
        ("pdf", "/pdf/enabled"),
    ];
    let on: Vec<&str> = switches
        .iter()
        .filter(|(_, at)| look.pointer(at) == Some(&json!(true)))
        .map(|(name, _)| *name)
        .collect();
    let known: Vec<&str> = known.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let kept = known.iter().filter(|name| on.contains(name));
    let items: Vec<&str> = kept.chain(on.iter().filter(|name| !known.contains(name))).copied().collect();
    look["pageActions"]["items"] = json!(items);
    look
}

/// Returns a customization as published: without the assistant.
fn published_look(mut look: Value) -> Value {
    look["ai"] = json!({ "mode": "none" });
    look
}

async fn changes_are_told_from_what_they_leave_out(
    site: Vec<(&'static str, Value)>,
    changes: Vec<Vec<(&'static str, Value)>>,
) {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let one = published(&w, "Docs").await;
    let of = (&w.org, &one.site);
    let look = with(default_look(), &site);
    let typed: Customization = serde_json::from_value(look.clone()).expect("valid");
    let told = p.as_actor(me).org(of.0).site(of.1).set_customization(typed).await.expect("set");
    let read = p.as_actor(me).org(of.0).site(of.1).get_customization().await.expect("read");
    let look = with_actions(look, &default_look()["pageActions"]["items"]);
    assert_eq!(serde_json::to_value(&told).expect("JSON"), look);
    assert_eq!(read, told);
    let mut differs: Vec<(&'static str, Value)> = Vec::new();
    for change in changes {
        differs.retain(|(path, _)| !change.iter().any(|(changed, _)| changed == path));
        differs.extend(change.iter().filter(|(_, value)| !value.is_null()).cloned());
        let request: CustomizationOverride = serde_json::from_value(with(json!({}), &change)).expect("valid");
        let told = p
            .as_actor(me)
            .org(of.0)
            .site(of.1)
            .space(&one.place)
            .override_customization(request)
            .await
            .expect("changed");
        let expected = with_actions(with(look.clone(), &differs), &look["pageActions"]["items"]);
        assert_eq!(serde_json::to_value(&told).expect("JSON"), expected, "{change:?}");
        let read =
            p.as_actor(me).org(of.0).site(of.1).space(&one.place).get_customization().await.expect("read");
        assert_eq!(read, told);
        let published =
            p.as_actor(me).org(of.0).site(of.1).published().await.expect("published").customizations;
        let site = serde_json::to_value(&published.site).expect("JSON");
        assert_eq!(site, published_look(look.clone()), "the site is as it was");
        let of_place = published.site_spaces.get(&one.place);
        let of_place = of_place.map(|look| serde_json::to_value(look).expect("JSON"));
        assert_eq!(of_place, Some(published_look(expected)), "with the overrides");
    }
    // The site may change fields that a space overrides.
    p.as_actor(me).org(of.0).site(of.1).set_customization(Customization::default()).await.expect("set");
    let read = p.as_actor(me).org(of.0).site(of.1).space(&one.place).get_customization().await.expect("read");
    let expected = with_actions(with(default_look(), &differs), &default_look()["pageActions"]["items"]);
    assert_eq!(serde_json::to_value(&read).expect("JSON"), expected);
    let there =
        p.as_actor(me).org(of.0).site(of.1).space(&one.place).delete_customization().await.expect("deleted");
    assert!(there);
    let read = p.as_actor(me).org(of.0).site(of.1).space(&one.place).get_customization().await.expect("read");
    assert_eq!(read, Customization::default());
    w.check().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn customization_round_trips_and_keeps_omitted_fields(
        site in some(values().into_iter().chain(own_values()).collect(), 0),
        changes in prop::collection::vec(some(values(), 2), 1..5),
    ) {
        block_on(changes_are_told_from_what_they_leave_out(site, changes));
    }
}

#[tokio::test]
async fn customization_of_a_space_of_another_site_is_not_found() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let (one, other) = (published(&w, "One").await, published(&w, "Other").await);
    let of = (&w.org, &one.site);
    let change = CustomizationOverride::default();
    assert_eq!(
        kind(p.as_actor(me).org(of.0).site(of.1).space(&other.place).get_customization().await),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind(p.as_actor(me).org(of.0).site(of.1).space(&other.place).override_customization(change).await),
        ErrorKind::NotFound
    );
    assert!(
        !p.as_actor(me)
            .org(of.0)
            .site(of.1)
            .space(&other.place)
            .delete_customization()
            .await
            .expect("no error")
    );
}
