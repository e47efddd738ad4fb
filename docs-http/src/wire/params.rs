//! Parameters: [`Path`], [`Query`] and [`RequiredQuery`].
//!
//! Path parameters are text. The platform validates ids, so that a malformed id gets the same 404 as one that does not
//! exist.
//!
//! Query parameters can be of any type with serde support and a schema: numbers, booleans, enumeration names, bounded
//! text, and lists of these. A list is passed by repeating the parameter, `type=basic&type=premium`, which is the
//! default of OpenAPI. A comma is always part of a value, never a separator, because values may contain one.

use std::borrow::Cow;

use docs_core::store::{DEFAULT_LIMIT, MAX_LIMIT, PageRequest};
use percent_encoding::percent_decode_str;
use poem::{Request, RequestBody};
pub use poem_openapi::param::Path;
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaOperationParam, MetaParamIn, MetaSchema, MetaSchemaRef, Registry},
};
use schemars::JsonSchema;
use serde::{
    Deserializer,
    de::{
        DeserializeOwned, Error as _, IntoDeserializer, Visitor,
        value::{Error as ValueError, SeqDeserializer},
    },
    forward_to_deserialize_any,
};

use super::{
    error::ApiError,
    fault,
    schema::{self, Direction},
};

/// An optional query parameter.
///
/// # Errors
///
/// 400 with a message that begins with the name of the parameter: for a value of the wrong type, for a repeated
/// parameter that is not a list, and for a value that is not UTF-8 or contains NUL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query<T>(pub Option<T>);

/// A required query parameter. Otherwise the same as [`Query`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredQuery<T>(pub T);

impl<'a, T: DeserializeOwned + JsonSchema + Send + 'static> ApiExtractor<'a> for Query<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = false;
    type ParamType = T;
    type ParamRawType = T;

    fn register(registry: &mut Registry) {
        schema::register::<T>(registry, Direction::Request);
    }

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(schema::reference::<T>(Direction::Request))
    }

    fn param_raw_type(&self) -> Option<&T> {
        self.0.as_ref()
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        options: ExtractParamOptions<T>,
    ) -> poem::Result<Self> {
        let given = read(request, options.name)?;
        Ok(Self(given.or_else(|| options.default_value.map(|default| default()))))
    }
}

impl<'a, T: DeserializeOwned + JsonSchema + Send + 'static> ApiExtractor<'a> for RequiredQuery<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = true;
    type ParamType = T;
    type ParamRawType = T;

    fn register(registry: &mut Registry) {
        schema::register::<T>(registry, Direction::Request);
    }

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(schema::reference::<T>(Direction::Request))
    }

    fn param_raw_type(&self) -> Option<&T> {
        Some(&self.0)
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        options: ExtractParamOptions<T>,
    ) -> poem::Result<Self> {
        let given = read(request, options.name)?;
        given.map(Self).ok_or_else(|| ApiError::invalid(format!("{}: is required", options.name)).into())
    }
}

/// The requested page of a list: the parameters `page` and `limit`.
///
/// Both have the same description in every operation. The handler declares one parameter named `page`.
///
/// # Errors
///
/// The errors of [`Query`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageQuery(pub(crate) PageRequest);

/// Maximum number of items of a response.
#[derive(Clone, Copy, Debug, serde::Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct Limit(#[schemars(range(max = MAX_LIMIT))] pub(crate) u32);

/// The cursor of a page, as returned with the previous page.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(inline)]
struct Cursor(
    #[expect(dead_code, reason = "only the schema is used")]
    #[schemars(regex(pattern = "^[A-Za-z0-9_-]+$"))]
    String,
);

impl PageQuery {
    /// The format that marks the parameter until it is replaced by its documentation.
    const FORMAT: &'static str = "page";

    /// Documents the `page` parameter of an operation, and adds `limit` after it.
    pub(crate) fn document(parameters: &mut Vec<MetaOperationParam>) {
        let is_page = |parameter: &MetaOperationParam| match &parameter.schema {
            MetaSchemaRef::Inline(schema) => schema.format == Some(Self::FORMAT),
            MetaSchemaRef::Reference(_) => false,
        };
        let Some(at) = parameters.iter().position(is_page) else { return };
        let page = &mut parameters[at];
        page.schema = schema::reference::<Cursor>(Direction::Request);
        page.description = Some("The `next.page` of the previous page.".to_owned());
        let limit = MetaOperationParam {
            name: "limit".to_owned(),
            schema: schema::reference::<Limit>(Direction::Request),
            in_type: MetaParamIn::Query,
            description: Some(format!("Maximum number of items per page; the default is {DEFAULT_LIMIT}.")),
            required: false,
            deprecated: page.deprecated,
            explode: page.explode,
            style: page.style,
        };
        parameters.insert(at + 1, limit);
    }
}

impl<'a> ApiExtractor<'a> for PageQuery {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = false;
    type ParamType = String;
    type ParamRawType = String;

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Query)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(MetaSchemaRef::Inline(Box::new(MetaSchema::new_with_format("string", Self::FORMAT))))
    }

    fn param_raw_type(&self) -> Option<&String> {
        self.0.page.as_ref()
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<String>,
    ) -> poem::Result<Self> {
        let limit: Option<Limit> = read(request, "limit")?;
        Ok(Self(PageRequest { page: read(request, "page")?, limit: limit.map(|limit| limit.0) }))
    }
}

fn read<T: DeserializeOwned>(request: &Request, name: &str) -> Result<Option<T>, ApiError> {
    let values = values(request.uri().query().unwrap_or_default(), name)?;
    if values.is_empty() {
        return Ok(None);
    }
    T::deserialize(Values(&values))
        .map(Some)
        .map_err(|error| ApiError::invalid(format!("{name}: {}", fault::plain_message(&error.to_string()))))
}

/// Returns all values of a query parameter, in order.
fn values(query: &str, name: &str) -> Result<Vec<String>, ApiError> {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let ours = pairs.filter(|(key, _)| decode(key).is_some_and(|key| key == name));
    ours.map(|(_, value)| match decode(value) {
        None => Err(ApiError::invalid(format!("{name}: must be UTF-8 text, percent-encoded"))),
        Some(text) if text.contains('\0') => {
            Err(ApiError::invalid(format!("{name}: must not contain the NUL character")))
        }
        Some(text) => Ok(text),
    })
    .collect()
}

fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(Cow::into_owned)
}

/// Deserializer for the values of one parameter.
#[derive(Clone, Copy)]
struct Values<'v>(&'v [String]);

impl<'v> Values<'v> {
    /// Returns the value of a parameter that is not a list.
    fn single(self) -> Result<&'v str, ValueError> {
        match self.0 {
            [value] => Ok(value),
            values => Err(ValueError::custom(format_args!("must occur once, occurs {} times", values.len()))),
        }
    }

    fn parse<T: std::str::FromStr>(self, what: &str) -> Result<T, ValueError> {
        let value = self.single()?;
        value.parse().map_err(|_| {
            let shown: String = value.chars().take(50).collect();
            ValueError::custom(format_args!("must be {what}, is `{shown}`"))
        })
    }
}

/// Parses numbers as the widest type of their kind. The target type then checks its own range.
macro_rules! numbers {
    ($($method:ident => $visit:ident, $type:ty, $what:literal);* $(;)?) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
            visitor.$visit(self.parse::<$type>($what)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Values<'_> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_str(self.single()?)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_bool(self.parse("`true` or `false`")?)
    }

    numbers! {
        deserialize_u8 => visit_u64, u64, "a whole number of at least 0";
        deserialize_u16 => visit_u64, u64, "a whole number of at least 0";
        deserialize_u32 => visit_u64, u64, "a whole number of at least 0";
        deserialize_u64 => visit_u64, u64, "a whole number of at least 0";
        deserialize_i8 => visit_i64, i64, "a whole number";
        deserialize_i16 => visit_i64, i64, "a whole number";
        deserialize_i32 => visit_i64, i64, "a whole number";
        deserialize_i64 => visit_i64, i64, "a whole number";
        deserialize_f32 => visit_f64, f64, "a number";
        deserialize_f64 => visit_f64, f64, "a number";
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_seq(SeqDeserializer::new(self.0.iter().map(ListValue)))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        let value: serde::de::value::StrDeserializer<'_, ValueError> = self.single()?.into_deserializer();
        value.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier ignored_any
    }
}

/// One value of a list parameter.
struct ListValue<'v>(&'v String);

impl<'v> IntoDeserializer<'_, ValueError> for ListValue<'v> {
    type Deserializer = Values<'v>;
    fn into_deserializer(self) -> Values<'v> {
        Values(std::slice::from_ref(self.0))
    }
}

#[cfg(test)]
mod tests {
    use docs_core::model::{BoundedText, SiteType};

    use super::*;

    fn parse_query<T: DeserializeOwned>(query: &str) -> Result<T, String> {
        let values = values(query, "p").map_err(|error| error.message().to_owned())?;
        T::deserialize(Values(&values)).map_err(|error| fault::plain_message(&error.to_string()))
    }

    #[test]
    fn query_values_parse_by_type() {
        assert_eq!(parse_query("p=5"), Ok(5_u32));
        assert_eq!(parse_query("q=1&p=-5"), Ok(-5_i64));
        assert_eq!(parse_query("p=true"), Ok(true));
        assert_eq!(parse_query("p=1.5"), Ok(1.5_f64));
        assert_eq!(parse_query("p=a+b%2Cc"), Ok("a b,c".to_owned()));
        assert_eq!(parse_query("p=legacy-basic"), Ok(SiteType::LegacyBasic));
        assert_eq!(parse_query("p=x"), Ok(Some("x".to_owned())));
        assert_eq!(parse_query("p=basic&p=premium"), Ok(vec![SiteType::Basic, SiteType::Premium]));
    }

    #[test]
    fn invalid_query_value_is_described_in_the_error() {
        let number = |query| parse_query::<u8>(query).expect_err(query);
        assert_eq!(number("p=abc"), "must be a whole number of at least 0, is `abc`");
        assert_eq!(number("p=-1"), "must be a whole number of at least 0, is `-1`");
        assert_eq!(number("p=1&p=2"), "must occur once, occurs 2 times");
        assert_eq!(number("p=300"), "invalid value: integer `300`, expected a whole number from 0 to 255");
        assert_eq!(parse_query::<bool>("p=1"), Err("must be `true` or `false`, is `1`".to_owned()));
        assert_eq!(
            parse_query::<BoundedText<1, 3>>("p=abcd").map(|_| ()),
            Err("must be at most 3 characters, has 4".to_owned())
        );
        let choice =
            parse_query::<Vec<SiteType>>("p=basic,premium").expect_err("a comma is part of the value");
        assert!(choice.starts_with("unknown variant `basic,premium`, expected one of `basic`"), "{choice}");
    }

    #[test]
    fn query_value_must_be_utf8_without_nul() {
        assert_eq!(parse_query::<String>("p=%ff"), Err("p: must be UTF-8 text, percent-encoded".to_owned()));
        assert_eq!(parse_query::<String>("p=a%00"), Err("p: must not contain the NUL character".to_owned()));
    }
}
