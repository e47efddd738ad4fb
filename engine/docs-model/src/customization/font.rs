//! Fonts: predefined fonts, and custom fonts that a customization defines.

use std::{fmt, marker::PhantomData};

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{
        MapAccess, Visitor,
        value::{MapAccessDeserializer, StrDeserializer},
    },
};

use super::super::{BoundedText, BoundedVec, Url};

macro_rules! fonts {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant:meta])* $font:ident),* $(,)? }),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum $name { $($(#[$variant])* $font),* }
    )*};
}

fonts! {
    /// A predefined font for text.
    DefaultFont {
        #[serde(rename = "ABCFavorit")]
        AbcFavorit,
        #[default]
        Inter,
        Roboto,
        RobotoSlab,
        OpenSans,
        SourceSansPro,
        Lato,
        Ubuntu,
        Raleway,
        Merriweather,
        Overpass,
        NotoSans,
        #[serde(rename = "IBMPlexSerif")]
        IbmPlexSerif,
        Poppins,
        FiraSans,
    },
    /// A predefined font for code.
    DefaultMonospaceFont {
        FiraCode,
        #[default]
        #[serde(rename = "IBMPlexMono")]
        IbmPlexMono,
        JetBrainsMono,
        SourceCodePro,
        RobotoMono,
        SpaceMono,
        #[serde(rename = "DMMono")]
        DmMono,
        Inconsolata,
    },
}

pub type Font = FontOr<DefaultFont>;
pub type MonospaceFont = FontOr<DefaultMonospaceFont>;

/// A predefined font, given by name, or a font definition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum FontOr<N> {
    /// A predefined font.
    Named(N),
    /// A font defined by the customization.
    Defined(FontDefinition),
}

/// A font defined by a customization.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FontDefinition {
    /// The identifier of the font in the customization.
    pub id: BoundedText<1, 128>,
    /// `true` for an uploaded font, `false` for a font from a catalogue.
    pub custom: bool,
    pub font_family: BoundedText<1, 50>,
    pub font_faces: BoundedVec<FontFace, 1, 18>,
}

/// A face of a font.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FontFace {
    pub weight: FontWeight,
    /// The font files of the face, in alternative formats.
    pub sources: BoundedVec<FontSource, 1, 8>,
}

/// The weight of a font face on the CSS scale, 1 to 1000.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
pub struct FontWeight(u16);

/// A file of a font face.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FontSource {
    pub url: Url,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<FontFormat>,
}

/// The file format of a font.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FontFormat {
    Woff2,
    Woff,
}

impl FontWeight {
    /// Creates a weight, or returns `None` if it is outside the CSS range of 1 to 1000.
    #[must_use]
    pub const fn new(weight: u16) -> Option<Self> {
        if weight >= 1 && weight <= 1000 { Some(Self(weight)) } else { None }
    }
}

impl<'de> Deserialize<'de> for FontWeight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let weight = u16::deserialize(deserializer)?;
        Self::new(weight).ok_or_else(|| serde::de::Error::custom("must be a whole number from 1 to 1000"))
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for FontWeight {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FontWeight".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": 1000 })
    }
}

impl<N: Default> Default for FontOr<N> {
    fn default() -> Self {
        Self::Named(N::default())
    }
}

impl<'de, N: Deserialize<'de>> Deserialize<'de> for FontOr<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FontNameVisitor<N>(PhantomData<N>);
        impl<'de, N: Deserialize<'de>> Visitor<'de> for FontNameVisitor<N> {
            type Value = FontOr<N>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a font, or its definition")
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<FontOr<N>, E> {
                N::deserialize(StrDeserializer::new(name)).map(FontOr::Named)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FontOr<N>, A::Error> {
                FontDefinition::deserialize(MapAccessDeserializer::new(map)).map(FontOr::Defined)
            }
        }
        deserializer.deserialize_any(FontNameVisitor(PhantomData))
    }
}

#[cfg(feature = "schema")]
impl<N: JsonSchema> JsonSchema for FontOr<N> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}OrDefined", N::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (named, defined) = (generator.subschema_for::<N>(), generator.subschema_for::<FontDefinition>());
        json_schema!({ "oneOf": [named, defined] })
    }
}
