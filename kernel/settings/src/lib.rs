#![doc = include_str!("../README.md")]

mod declaration;
mod document;
pub mod kinds;
mod module;
mod profiles;
mod service;
mod values;

pub use declaration::{
    ApplicationSetting, ApplicationSettingProblem, ApplicationSettingType, MANAGE_SETTINGS,
    SettingScope,
};
pub use module::{SettingsModule, SettingsRegistry};
pub use profiles::{Expected, Profile, ProfileSettings, Profiles};
pub use service::{ApplicationSettingChanged, ApplicationSettings, SettingInForce};
