//! Themes of code blocks. They are stored for clients.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::themed::Themed;

/// A theme of code blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CodeTheme {
    DefaultLight,
    DefaultDark,
    MonochromeLight,
    MonochromeDark,
    Andromeeda,
    AuroraX,
    AyuDark,
    CatppuccinFrappe,
    CatppuccinLatte,
    CatppuccinMacchiato,
    CatppuccinMocha,
    DarkPlus,
    Dracula,
    DraculaSoft,
    EverforestDark,
    EverforestLight,
    GithubDark,
    GithubDarkDefault,
    GithubDarkDimmed,
    GithubDarkHighContrast,
    GithubLight,
    GithubLightDefault,
    GithubLightHighContrast,
    GruvboxDarkHard,
    GruvboxDarkMedium,
    GruvboxDarkSoft,
    GruvboxLightHard,
    GruvboxLightMedium,
    GruvboxLightSoft,
    Houston,
    KanagawaDragon,
    KanagawaLotus,
    KanagawaWave,
    Laserwave,
    LightPlus,
    MaterialTheme,
    MaterialThemeDarker,
    MaterialThemeLighter,
    MaterialThemeOcean,
    MaterialThemePalenight,
    MinDark,
    MinLight,
    Monokai,
    NightOwl,
    Nord,
    OneDarkPro,
    OneLight,
    Plastic,
    Poimandres,
    Red,
    RosePine,
    RosePineDawn,
    RosePineMoon,
    SlackDark,
    SlackOchin,
    SnazzyLight,
    SolarizedDark,
    SolarizedLight,
    #[serde(rename = "synthwave-84")]
    Synthwave84,
    TokyoNight,
    Vesper,
    VitesseBlack,
    VitesseDark,
    VitesseLight,
}

/// The themes of code blocks on pages and in API references.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CodeThemes {
    /// The themes on pages.
    pub default: Themed<CodeTheme>,
    /// The themes in API references.
    pub openapi: Themed<CodeTheme>,
}

impl Default for CodeThemes {
    fn default() -> Self {
        let usual = || Themed { light: CodeTheme::DefaultLight, dark: CodeTheme::DefaultDark };
        Self { default: usual(), openapi: usual() }
    }
}
