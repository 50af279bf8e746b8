//! What reads of the sets may ask for, and what they may cost.

use std::time::Duration;

use svc_data::{BudgetLimits, Context, Expense};
use svc_odata::bind::BindLimits;
use svc_odata::syntax::ParseLimits;

svc_core::settings_section! {
    /// The entity sets over OData.
    pub struct ODataSettings in "Svc:OData" {
        /// Entities in one answer, where the request asks for no fewer.
        pub page_size: u32 = 100, within(1..=10_000);
        /// Entities in one answer at most, whatever `Prefer: odata.maxpagesize` asks for.
        /// Large answers are sent while they are read, so they take no more memory than small ones.
        pub max_page_size: u32 = 100_000, within(1..=10_000_000);
        /// How long a client may take nothing of an answer that is sent while it is read, before
        /// the rest is not read any more.
        pub reader_timeout: Duration = seconds(60), within(seconds(1)..=seconds(3_600));
        /// Whether changes and deletes must name the version they are meant for (`If-Match`);
        /// without it they are answered with 428.
        pub require_if_match: bool = false;
        /// Deepest nesting of an expression.
        pub max_depth: usize = 100, within(10..=500);
        /// Most parts of all expressions of a request.
        pub max_nodes: usize = 2_000, within(10..=100_000);
        /// Deepest nesting of `$expand`, levels included.
        pub max_expand_depth: usize = 5, within(1..=20);
        /// Most requests in one `$batch`.
        pub max_batch_requests: usize = 100, within(1..=10_000);
        /// Most navigation properties that a request expands in all.
        pub max_expands: usize = 50, within(1..=1_000);
        /// Related entities that are expanded of each entity, where they lead to many; a link
        /// leads to the others.
        pub expand_page_size: u32 = 100, within(1..=10_000);
        /// Most items of a `$select`.
        pub max_select_items: usize = 1_000, within(1..=10_000);
        /// Most items of an `$orderby`.
        pub max_order_by_items: usize = 32, within(1..=1_000);
        /// Longest address of a request, in bytes; longer queries go into the body of a `$query`.
        pub max_url_length: usize = 32_768, within(256..=65_000);
        /// Most steps along navigation properties in all conditions, orders and computations of a
        /// request; a batch has as many in all. A step within `any`, `all` or `$count` counts once
        /// more for each of those around it.
        pub max_navigation_steps: u64 = 50, within(1..=1_000);
        /// How many collections may stand within each other in a condition (`any` within `any`).
        /// Each of them multiplies the records that the database looks at.
        pub max_collection_depth: usize = 2, within(1..=10);
        /// Most words and phrases that a request searches for; a batch has as many in all.
        pub max_search_words: u64 = 50, within(1..=500);
        /// Most letters of a word or phrase that is searched for.
        pub max_search_word_length: usize = 200, within(10..=2_000);
        /// Most `tolower` and `toupper` of a request. On SQLite each is a large expression.
        pub max_case_changes: usize = 16, within(1..=100);
        /// Most `concat` of texts in a request: each adds the length of a text to every row.
        pub max_joined_texts: usize = 16, within(1..=1_000);
        /// Most transformations of an `$apply`. Those behind a `concat` count once for each of its
        /// parts.
        pub max_transformations: usize = 50, within(1..=1_000);
        /// Most statements that reads of a request run; a batch has as many in all.
        pub max_statements: u64 = 10_000, within(100..=1_000_000);
        /// Most related entities that an answer holds, at all levels of `$expand`; a batch has as
        /// many in all.
        pub max_related_entities: u64 = 1_000_000, within(100..=100_000_000);
        /// Most related entities, references and items of lists in the body of a request; a batch
        /// has as many in all.
        pub max_body_items: u64 = 2_000, within(10..=100_000);
        /// Most bytes of related entities that are held before they are sent, copies for each level
        /// of `$expand` included, and most bytes of all answers of a batch.
        pub max_held_bytes: u64 = 33_554_432, within(65_536..=1_073_741_824);
    }
}

impl ODataSettings {
    /// How a path and its options are parsed.
    pub(crate) fn parsing(&self) -> ParseLimits {
        ParseLimits { depth: self.max_depth, nodes: self.max_nodes }
    }

    /// What binding may use up: of what the parts of a batch share as much as is left.
    pub(crate) fn binding(&self, ctx: &Context) -> BindLimits {
        let left = |what, limit: u64| {
            let left = ctx.budget().map_or(limit, |budget| budget.left(what));
            usize::try_from(left).unwrap_or(usize::MAX)
        };
        BindLimits {
            nodes: self.max_nodes,
            depth: self.max_depth.min(ParseLimits::MAX_DEPTH),
            select_items: self.max_select_items,
            order_by_items: self.max_order_by_items,
            expand_depth: self.max_expand_depth,
            expands: self.max_expands,
            navigation_steps: left(Expense::NavigationSteps, self.max_navigation_steps),
            collection_depth: self.max_collection_depth,
            search_words: left(Expense::SearchWords, self.max_search_words),
            search_word_length: self.max_search_word_length,
            case_changes: self.max_case_changes,
            joined_texts: self.max_joined_texts,
            transformations: self.max_transformations,
        }
    }

    /// What a request may cost.
    #[must_use]
    pub fn budget(&self) -> BudgetLimits {
        BudgetLimits {
            statements: self.max_statements,
            related_entities: self.max_related_entities,
            held_bytes: self.max_held_bytes,
            navigation_steps: self.max_navigation_steps,
            search_words: self.max_search_words,
            body_items: self.max_body_items,
        }
    }
}
