//! The shop's own settings.

svc::core::settings_section! {
    /// Data to try the shop with.
    pub struct SampleSettings in "Svc:Sample" {
        /// Whether the first start fills an empty shop with an invented wholesale business, and,
        /// unless `Svc:Setup` makes an organisation, makes one with an administrator and prints
        /// an API key. Later starts change nothing. `cargo xtask run` asks for it; a shop of your own
        /// starts empty.
        pub data: bool = false;
    }
}
