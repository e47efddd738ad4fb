//! Tests of ids and of values with fixed names.

use docs_model::{
    BASE32, DefaultLevel, MemberRole, NotARole, NotAnId, Role, SiteType, SpaceId, TranslationLanguage,
};

#[test]
fn an_id_is_1_to_64_plain_characters() {
    assert!("a".parse::<SpaceId>().is_ok());
    assert!("A-z_9".repeat(12).parse::<SpaceId>().is_ok());
    for wrong in ["", "a b", "a/b", "a!b", "ä", &"a".repeat(65)] {
        assert_eq!(wrong.parse::<SpaceId>(), Err(NotAnId), "{wrong}");
    }
}

#[test]
fn base32_is_lower_case() {
    assert_eq!(BASE32.encode(&[0xff, 0x00]), "74aa");
}

#[test]
fn role_names_round_trip() {
    for role in Role::ALL {
        assert_eq!(serde_json::to_value(role).unwrap(), role.as_str());
        assert_eq!(role.to_string().parse(), Ok(*role));
        assert_eq!(serde_json::to_value(DefaultLevel::Role(*role)).unwrap(), role.as_str());
    }
    assert_eq!("Read".parse::<Role>(), Err(NotARole));
}

#[test]
fn each_role_includes_itself_and_all_lower_roles() {
    for (at, role) in Role::ALL.iter().enumerate() {
        let included: Vec<Role> = Role::ALL.iter().copied().filter(|other| role.includes(*other)).collect();
        assert_eq!(included, Role::ALL[..=at]);
    }
}

#[test]
fn member_roles_are_all_roles_and_guest() {
    let refused = serde_json::from_value::<MemberRole>("king".into()).expect_err("no role").to_string();
    let names: Vec<&str> = refused.split('`').skip(3).step_by(2).collect();
    assert_eq!(names.len(), Role::ALL.len() + 1, "{refused}");
    assert_eq!((names[0], names.last()), (Role::Admin.as_str(), Some(&"guest")));
    for name in names {
        let read: MemberRole = serde_json::from_value(name.into()).unwrap();
        assert_eq!((read.as_str(), serde_json::to_value(read).unwrap()), (name, name.into()));
    }
}

#[test]
fn site_types_parse_from_their_names() {
    for name in ["basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium"] {
        let kind: SiteType = serde_json::from_value(name.into()).expect("a type");
        assert_eq!(kind.as_str(), name);
    }
}

#[test]
fn all_39_translation_languages_round_trip() {
    for language in TranslationLanguage::ALL {
        assert_eq!(serde_json::to_value(language).expect("JSON"), language.as_str());
        let read: TranslationLanguage = serde_json::from_value(language.as_str().into()).expect("a language");
        assert_eq!(read, *language);
    }
    assert_eq!(TranslationLanguage::ALL.len(), 39);
}
