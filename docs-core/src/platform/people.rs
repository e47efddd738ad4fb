//! Users, organizations, members, teams, invites and single sign-on.

pub(super) mod email_invites;
pub(super) mod joining;
pub(super) mod members;
pub(super) mod names;
pub(super) mod orgs;
pub(super) mod saml;
pub(super) mod teams;
pub(super) mod users;
