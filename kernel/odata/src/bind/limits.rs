//! How much one request may ask for, and how much it did.
//!
//! What a condition costs the database doesn't show in its length: `any` within `any` multiplies
//! the rows that are looked at, and a word of `$search` is looked for in every row. So what costs
//! is counted where it is bound, parameter aliases put in place.

/// How much one request may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BindLimits {
    /// Deepest nesting of `$expand`, levels included. Default 5.
    pub expand_depth: usize,
    /// Most expanded navigation properties in all. Default 50.
    pub expands: usize,
    /// Most items of a `$select`. Default 1000.
    pub select_items: usize,
    /// Most items of an `$orderby`. Default 100.
    pub order_by_items: usize,
    /// Most nodes of all bound expressions, parameter aliases put in place. Default 5000.
    pub nodes: usize,
    /// Deepest nesting of bound expressions, parameter aliases put in place. Default 100, which is
    /// what a thread's stack surely holds.
    pub depth: usize,
    /// Most steps along navigation properties in all expressions. A step within `any`, `all` or
    /// `$count` counts once more for each of those around it. Default 50.
    pub navigation_steps: usize,
    /// How many collections may stand within each other in a condition (`any` within `any`).
    /// Default 2.
    pub collection_depth: usize,
    /// Most words and phrases of all `$search`. Default 50.
    pub search_words: usize,
    /// Most letters of one of those. Default 200.
    pub search_word_length: usize,
    /// Most `tolower` and `toupper`. Default 16.
    pub case_changes: usize,
    /// Most `concat` of texts. Each may double what a row holds. Default 16.
    pub joined_texts: usize,
    /// Most transformations of all `$apply`. Default 50.
    pub transformations: usize,
}

impl Default for BindLimits {
    fn default() -> Self {
        Self {
            expand_depth: 5,
            expands: 50,
            select_items: 1000,
            order_by_items: 100,
            nodes: 5000,
            depth: 100,
            navigation_steps: 50,
            collection_depth: 2,
            search_words: 50,
            search_word_length: 200,
            case_changes: 16,
            joined_texts: 16,
            transformations: 50,
        }
    }
}

/// Which limit it was that a request exceeds: a field of [`BindLimits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// [`BindLimits::expand_depth`].
    ExpandDepth,
    /// [`BindLimits::expands`].
    Expands,
    /// [`BindLimits::select_items`].
    SelectItems,
    /// [`BindLimits::order_by_items`].
    OrderByItems,
    /// [`BindLimits::nodes`].
    Nodes,
    /// [`BindLimits::depth`].
    Depth,
    /// [`BindLimits::navigation_steps`].
    NavigationSteps,
    /// [`BindLimits::collection_depth`].
    CollectionDepth,
    /// [`BindLimits::search_words`].
    SearchWords,
    /// [`BindLimits::search_word_length`].
    SearchWordLength,
    /// [`BindLimits::case_changes`].
    CaseChanges,
    /// [`BindLimits::joined_texts`].
    JoinedTexts,
    /// [`BindLimits::transformations`].
    Transformations,
}

/// What was used up of the limits that several requests may share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Of [`BindLimits::navigation_steps`].
    pub navigation_steps: usize,
    /// Of [`BindLimits::search_words`].
    pub search_words: usize,
}
