//! Merge rules: conditions that a change request must meet before it can be merged.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;

use super::{BoundedText, BoundedVec, Condition, UserId, typed_value::part};

/// The rules of an organization or a space, which must all be met.
pub type MergeRuleList = BoundedVec<MergeRule, 0, 20>;

/// The users that a merge rule names.
pub type MergeRuleUsers = BoundedVec<UserId, 1, 50>;

/// The merge rules of a space.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum SpaceMergeRules {
    /// The rules of the organization apply.
    #[default]
    Inherit,
    /// Change requests can be merged without a review.
    None,
    /// All rules must be met.
    Rules {
        /// The rules.
        rules: MergeRuleList,
    },
}

/// The merge rules of an organization. They apply to all spaces that inherit them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum OrganizationMergeRules {
    /// Change requests can be merged without a review.
    #[default]
    None,
    /// All rules must be met.
    Rules {
        /// The rules.
        rules: MergeRuleList,
    },
}

impl<'de> Deserialize<'de> for SpaceMergeRules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match value.get("type").and_then(Value::as_str) {
            Some("inherit") => Ok(Self::Inherit),
            Some("none") => Ok(Self::None),
            Some("rules") => Ok(Self::Rules { rules: rule_list(value)? }),
            _ => Err(D::Error::custom("type: must be `inherit`, `none` or `rules`")),
        }
    }
}

impl<'de> Deserialize<'de> for OrganizationMergeRules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match value.get("type").and_then(Value::as_str) {
            Some("none") => Ok(Self::None),
            Some("rules") => Ok(Self::Rules { rules: rule_list(value)? }),
            _ => Err(D::Error::custom("type: must be `none` or `rules`")),
        }
    }
}

/// Deserializes the rules of an object.
fn rule_list<E: serde::de::Error>(value: Value) -> Result<MergeRuleList, E> {
    #[derive(Deserialize)]
    struct Rules {
        rules: MergeRuleList,
    }
    part::<Rules, E>(value).map(|of| of.rules)
}

impl SpaceMergeRules {
    /// Returns the rules in effect, given those of the organization.
    #[must_use]
    pub fn in_effect<'r>(&'r self, inherited: &'r OrganizationMergeRules) -> &'r [MergeRule] {
        match self {
            Self::Inherit => inherited.rules(),
            Self::None => &[],
            Self::Rules { rules } => rules,
        }
    }

    /// Returns the rules of the space itself.
    #[must_use]
    pub fn rules(&self) -> &[MergeRule] {
        self.in_effect(&OrganizationMergeRules::None)
    }
}

impl OrganizationMergeRules {
    /// Returns the rules.
    #[must_use]
    pub fn rules(&self) -> &[MergeRule] {
        match self {
            Self::None => &[],
            Self::Rules { rules } => rules,
        }
    }
}

/// A merge rule.
///
/// Only the latest review of each reviewer counts, and it approves only the content that it reviewed: after a later
/// change, it has to be repeated. Rules that name no users ignore the reviews of the creator of the change request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum MergeRule {
    /// All of these users must approve the current content.
    RequireSpecificReviewers {
        /// The ids of the users.
        users: MergeRuleUsers,
    },
    /// At least one of these users must approve the current content.
    RequireOneOfSpecificReviewers {
        /// The ids of the users.
        users: MergeRuleUsers,
    },
    /// These users can merge even if other rules are not met.
    AllowBypass {
        /// The ids of the users.
        users: MergeRuleUsers,
    },
    /// A user other than the creator must review the current content.
    RequireAtLeastOneReview,
    /// A user other than the creator must approve the current content.
    RequireAtLeastOneApprovedReview,
    /// The latest review of each reviewer must approve the current content.
    RequireAllReviewsApproved,
    /// The change request must contain the latest content of the space.
    RequireUpToDateChangeRequest,
    /// The change request must have a subject.
    RequireChangeRequestSubject,
    /// The change request must have a description.
    RequireChangeRequestDescription,
    /// Only the creator of the change request can merge it.
    RequireAuthorToMerge,
    /// An expression must be true.
    Custom {
        /// The expression. It can read `space`, `changeRequest`, `actor` and `reviews`, which contains the latest
        /// review of each reviewer without its comment. If it cannot be evaluated, the rule is not met.
        expression: Condition,
        /// The error message if the rule is not met.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
        message: Option<BoundedText<1, 500>>,
    },
}

impl MergeRule {
    /// The values of `rule` in the wire format.
    const NAMES: [&str; 11] = [
        "require_specific_reviewers",
        "require_one_of_specific_reviewers",
        "allow_bypass",
        "require_at_least_one_review",
        "require_at_least_one_approved_review",
        "require_all_reviews_approved",
        "require_up_to_date_change_request",
        "require_change_request_subject",
        "require_change_request_description",
        "require_author_to_merge",
        "custom",
    ];

    /// Returns the users that the rule names.
    #[must_use]
    pub fn users(&self) -> &[UserId] {
        match self {
            Self::RequireSpecificReviewers { users }
            | Self::RequireOneOfSpecificReviewers { users }
            | Self::AllowBypass { users } => users,
            _ => &[],
        }
    }
}

impl<'de> Deserialize<'de> for MergeRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Users {
            users: MergeRuleUsers,
        }
        #[derive(Deserialize)]
        struct Custom {
            expression: Condition,
            #[serde(default)]
            message: Option<BoundedText<1, 500>>,
        }
        let value = Value::deserialize(deserializer)?;
        let users = |value| part::<Users, D::Error>(value).map(|of| of.users);
        Ok(match value.get("rule").and_then(Value::as_str) {
            Some("require_specific_reviewers") => Self::RequireSpecificReviewers { users: users(value)? },
            Some("require_one_of_specific_reviewers") => {
                Self::RequireOneOfSpecificReviewers { users: users(value)? }
            }
            Some("allow_bypass") => Self::AllowBypass { users: users(value)? },
            Some("require_at_least_one_review") => Self::RequireAtLeastOneReview,
            Some("require_at_least_one_approved_review") => Self::RequireAtLeastOneApprovedReview,
            Some("require_all_reviews_approved") => Self::RequireAllReviewsApproved,
            Some("require_up_to_date_change_request") => Self::RequireUpToDateChangeRequest,
            Some("require_change_request_subject") => Self::RequireChangeRequestSubject,
            Some("require_change_request_description") => Self::RequireChangeRequestDescription,
            Some("require_author_to_merge") => Self::RequireAuthorToMerge,
            Some("custom") => {
                let Custom { expression, message } = part(value)?;
                Self::Custom { expression, message }
            }
            _ => {
                let names = Self::NAMES.map(|name| format!("`{name}`")).join(", ");
                return Err(D::Error::custom(format_args!("rule: must be {names}")));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_merge_rule_is_returned_as_it_was_sent() {
        for name in MergeRule::NAMES {
            let rule = match name {
                "custom" => json!({ "rule": name, "expression": "true", "message": "No." }),
                name if name.contains("specific") || name == "allow_bypass" => {
                    json!({ "rule": name, "users": ["ada"] })
                }
                name => json!({ "rule": name }),
            };
            let rules = json!({ "type": "rules", "rules": [rule] });
            let parsed: SpaceMergeRules = serde_json::from_value(rules.clone()).expect("rules");
            assert_eq!(serde_json::to_value(&parsed).expect("JSON"), rules);
            let parsed: OrganizationMergeRules = serde_json::from_value(rules.clone()).expect("rules");
            assert_eq!(serde_json::to_value(&parsed).expect("JSON"), rules);
        }
    }

    #[test]
    fn rules_in_effect_are_inherited_unless_the_space_has_its_own() {
        let (one, other) = (MergeRule::RequireAtLeastOneReview, MergeRule::RequireAuthorToMerge);
        let list = |rule: &MergeRule| MergeRuleList::new(vec![rule.clone()]).expect("a list");
        let inherited = OrganizationMergeRules::Rules { rules: list(&one) };
        assert_eq!(SpaceMergeRules::Inherit.in_effect(&inherited), [one]);
        assert_eq!(SpaceMergeRules::None.in_effect(&inherited), []);
        assert_eq!(SpaceMergeRules::Rules { rules: list(&other) }.in_effect(&inherited), [other]);
    }

    #[test]
    fn an_invalid_rule_is_rejected_by_field() {
        for (rule, field) in [
            (json!({ "rule": "require_agent_review" }), "rule: must be `require_specific_reviewers`, "),
            (json!({}), "rule: must be "),
            (json!({ "rule": "allow_bypass" }), "missing field `users`"),
            (json!({ "rule": "allow_bypass", "users": [] }), "users: must have at least 1 item"),
            (json!({ "rule": "custom", "expression": "1 +" }), "expression: character 4"),
        ] {
            let error = serde_json::from_value::<MergeRule>(rule).expect_err("rejected").to_string();
            assert!(error.starts_with(field), "{error}");
        }
    }
}
