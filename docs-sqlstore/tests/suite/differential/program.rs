//! Programs: sequences of operations, each with an actor and a random seed.

use proptest::prelude::*;

/// One operation of a program. Its subject is drawn with `seed` from the items that exist at that point. Any list of
/// steps is therefore a valid program, even after shrinking.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) what: What,
    /// Index of the actor. The first one is the administrator.
    pub(super) who: usize,
    /// Milliseconds that pass before the step.
    pub(super) after: u64,
    pub(super) seed: u64,
}

impl Step {
    pub(super) fn dice(&self) -> Dice {
        Dice(self.seed)
    }
}

/// The operation of a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum What {
    SetUp,
    CreateUser,
    CreateToken,
    Authenticate,
    CurrentUser,
    CreateOrg,
    ListOrgs,
    GetOrg,
    PatchOrg,
    PutMember,
    ListSpaces,
    CreateSpace,
    GetSpace,
    PatchSpace,
    DeleteSpace,
    RestoreSpace,
    DuplicateSpace,
    PurgeSpace,
    ListRequests,
    CreateRequest,
    GetRequest,
    PatchRequest,
    Edit,
    Pull,
    Merge,
    PostComment,
    ListComments,
    ListCommenters,
    PostReply,
    ListReplies,
    UpdateComment,
    DeleteComment,
    SubmitReview,
    AskReviewers,
    ListReviews,
    GetRevision,
    ListPages,
    GetPage,
    GetPageByPath,
    ListFiles,
    GetFile,
    FileBytes,
    ListSites,
    CreateSite,
    GetSite,
    PatchSite,
    DeleteSite,
    Publish,
    Unpublish,
    AddSiteSpace,
    ListSiteSpaces,
    PublishedSite,
    AddSection,
    PatchSection,
    DeleteSection,
    AddSectionGroup,
    DeleteSectionGroup,
    GatherSection,
    SortStructure,
    PatchSiteSpace,
    DeleteSiteSpace,
    ListSections,
    SiteStructure,
    SetClaims,
    ReadClaims,
    SetLook,
    OverrideLook,
    DropLook,
    ReadLook,
    AddRedirect,
    PatchRedirect,
    DeleteRedirect,
    ListRedirects,
    FollowRedirect,
    AddShareLink,
    PatchShareLink,
    DeleteShareLink,
    ListShareLinks,
    ReadSignIn,
    PatchSignIn,
    RenewKey,
    ResolveUrl,
    Visit,
    ListCollections,
    CreateCollection,
    GetCollection,
    PatchCollection,
    DeleteCollection,
    ListCollectionSpaces,
    MoveCollection,
    TransferCollection,
    MoveSpace,
    TransferSpace,
    ChangeRepository,
    ImportGit,
    GitInfo,
    JobsOfSpace,
    GetJob,
    Settle,
    Tidy,
    Work,
    /// Advances the clock by one of the longer time spans.
    Pass,
}

impl What {
    /// Returns the index of the actor that may always perform the operation.
    const fn whose(self) -> usize {
        match self {
            Self::SetUp
            | Self::CreateUser
            | Self::CreateOrg
            | Self::PutMember
            | Self::PurgeSpace
            | Self::GetJob => super::known::PLATFORM,
            _ => 0,
        }
    }
}

/// Relative frequency of each operation.
const WEIGHTS: &[(u32, What)] = &[
    (1, What::SetUp),
    (2, What::CreateUser),
    (2, What::CreateToken),
    (2, What::Authenticate),
    (1, What::CurrentUser),
    (1, What::CreateOrg),
    (2, What::ListOrgs),
    (2, What::GetOrg),
    (6, What::PatchOrg),
    (4, What::PutMember),
    (4, What::ListSpaces),
    (6, What::CreateSpace),
    (3, What::GetSpace),
    (5, What::PatchSpace),
    (3, What::DeleteSpace),
    (3, What::RestoreSpace),
    (2, What::DuplicateSpace),
    (1, What::PurgeSpace),
    (6, What::ListRequests),
    (14, What::CreateRequest),
    (2, What::GetRequest),
    (6, What::PatchRequest),
    (36, What::Edit),
    (8, What::Pull),
    (10, What::Merge),
    (8, What::PostComment),
    (5, What::ListComments),
    (2, What::ListCommenters),
    (6, What::PostReply),
    (2, What::ListReplies),
    (8, What::UpdateComment),
    (3, What::DeleteComment),
    (3, What::SubmitReview),
    (4, What::AskReviewers),
    (2, What::ListReviews),
    (5, What::GetRevision),
    (4, What::ListPages),
    (5, What::GetPage),
    (5, What::GetPageByPath),
    (4, What::ListFiles),
    (2, What::GetFile),
    (3, What::FileBytes),
    (5, What::ListSites),
    (5, What::CreateSite),
    (2, What::GetSite),
    (6, What::PatchSite),
    (1, What::DeleteSite),
    (4, What::Publish),
    (1, What::Unpublish),
    (5, What::AddSiteSpace),
    (4, What::ListSiteSpaces),
    (3, What::PublishedSite),
    (6, What::AddSection),
    (3, What::PatchSection),
    (2, What::DeleteSection),
    (4, What::AddSectionGroup),
    (2, What::DeleteSectionGroup),
    (3, What::GatherSection),
    (8, What::SortStructure),
    (3, What::PatchSiteSpace),
    (2, What::DeleteSiteSpace),
    (2, What::ListSections),
    (3, What::SiteStructure),
    (3, What::SetClaims),
    (1, What::ReadClaims),
    (4, What::SetLook),
    (3, What::OverrideLook),
    (1, What::DropLook),
    (2, What::ReadLook),
    (5, What::AddRedirect),
    (2, What::PatchRedirect),
    (1, What::DeleteRedirect),
    (2, What::ListRedirects),
    (3, What::FollowRedirect),
    (4, What::AddShareLink),
    (2, What::PatchShareLink),
    (1, What::DeleteShareLink),
    (2, What::ListShareLinks),
    (3, What::ReadSignIn),
    (2, What::PatchSignIn),
    (1, What::RenewKey),
    (9, What::ResolveUrl),
    (8, What::Visit),
    (4, What::ListCollections),
    (6, What::CreateCollection),
    (1, What::GetCollection),
    (2, What::PatchCollection),
    (2, What::DeleteCollection),
    (3, What::ListCollectionSpaces),
    (6, What::MoveCollection),
    (1, What::TransferCollection),
    (8, What::MoveSpace),
    (1, What::TransferSpace),
    (5, What::ChangeRepository),
    (5, What::ImportGit),
    (2, What::GitInfo),
    (3, What::JobsOfSpace),
    (1, What::GetJob),
    (6, What::Settle),
    (1, What::Tidy),
    (2, What::Work),
    (4, What::Pass),
];

/// Generates programs of this length. Shrinking can remove any step.
pub(super) fn programs(steps: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Step>> {
    let whats = WEIGHTS.iter().map(|(weight, what)| (*weight, Just(*what))).collect();
    let what = proptest::strategy::Union::new_weighted(whats);
    let who = prop_oneof![8 => Just(0_usize), 2 => 0..super::known::CAST];
    let after = prop_oneof![1 => Just(0_u64), 2 => 1..1_500_u64];
    let step = (what, who, after, any::<u64>());
    let step = step.prop_map(|(what, who, after, seed)| {
        let who = if who == 0 { what.whose() } else { who };
        Step { what, who, after, seed }
    });
    let program = prop::collection::vec(prop::option::weighted(0.98, step), steps);
    program.prop_map(|steps| steps.into_iter().flatten().collect())
}

/// Reproducible random numbers: copies from the same step draw the same numbers in the same order.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    /// Returns a number below `end`, which must not be 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 8) as usize % end
    }

    /// Returns `true` with this probability in percent.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// Returns one of the items, preferring earlier ones, so that programs reuse the same items.
    pub(super) fn near<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        if things.is_empty() {
            return None;
        }
        if self.chance(20) {
            return Some(self.of(things));
        }
        let mut at = 0;
        while at + 1 < things.len() && self.chance(35) {
            at += 1;
        }
        things.get(at)
    }
}
