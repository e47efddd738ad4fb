//! Nouns that belong to a space: its content, change requests and comments.

use super::{
    ChangeRequestHandle, ChangeRequests, CommentHandle, Comments, ContentAddress, ContentHandle, GrantTarget,
    Permissions, ReplyHandle, RequestRef, Revisions, SpaceHandle,
};
use crate::model::{CommentId, CommentReplyId, RevisionId};

impl<'p> SpaceHandle<'p> {
    /// Returns the explicit roles of users and teams on the space.
    #[must_use]
    pub const fn permissions(self) -> Permissions<'p> {
        Permissions { caller: self.caller, target: GrantTarget::Space(self.space) }
    }

    /// Returns the live content.
    #[must_use]
    pub const fn content(self) -> ContentHandle<'p> {
        ContentHandle { caller: self.caller, of: ContentAddress::Live(self.space) }
    }

    /// Returns the content of a revision. Revisions are immutable.
    #[must_use]
    pub const fn revision(self, revision: &'p RevisionId) -> ContentHandle<'p> {
        ContentHandle { caller: self.caller, of: ContentAddress::Revision(self.space, revision) }
    }

    /// Returns the history: the revisions that were live content.
    #[must_use]
    pub const fn revisions(self) -> Revisions<'p> {
        Revisions { caller: self.caller, space: self.space }
    }

    #[must_use]
    pub const fn change_requests(self) -> ChangeRequests<'p> {
        ChangeRequests { caller: self.caller, space: self.space }
    }

    /// Returns a change request by id or number.
    #[must_use]
    pub const fn change_request(self, request: &'p str) -> ChangeRequestHandle<'p> {
        ChangeRequestHandle { caller: self.caller, at: RequestRef { space: self.space, request } }
    }
}

impl<'p> ChangeRequestHandle<'p> {
    #[must_use]
    pub const fn content(self) -> ContentHandle<'p> {
        ContentHandle { caller: self.caller, of: ContentAddress::Request(self.at) }
    }
}

impl<'p> ContentHandle<'p> {
    /// Returns the comments. Revisions have none.
    #[must_use]
    pub const fn comments(self) -> Comments<'p> {
        Comments { caller: self.caller, of: self.of }
    }

    #[must_use]
    pub const fn comment(self, comment: &'p CommentId) -> CommentHandle<'p> {
        CommentHandle { caller: self.caller, of: self.of, comment }
    }
}

impl<'p> CommentHandle<'p> {
    #[must_use]
    pub const fn reply(self, reply: &'p CommentReplyId) -> ReplyHandle<'p> {
        ReplyHandle { caller: self.caller, of: self.of, comment: self.comment, reply }
    }
}
