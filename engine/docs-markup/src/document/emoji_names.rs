//! Emoji by short name and by code points.
//!
//! The names are those of gemoji, which Markdown implementations commonly use, and a few additional names that existing
//! documents use. Code points are written as in the file names of emoji images: in hexadecimal, separated by `-`, and
//! without the variation selector U+FE0F unless the emoji is a joined sequence.

/// Names that gemoji lacks or uses differently. The emoji are printed with these names.
const ADDITIONAL_NAMES: &[(&str, &str)] = &[
    ("beetle", "1f41e"),
    ("calendar_spiral", "1f5d3"),
    ("desktop", "1f5a5"),
    ("flag_white", "1f3f3"),
    ("fox", "1f98a"),
    ("graduation_cap", "1f393"),
    ("hugging", "1f917"),
    ("map", "1f5fa"),
    ("medal", "1f3c5"),
    ("person", "1f9d1"),
    ("puzzle_piece", "1f9e9"),
    ("scales", "2696"),
    ("timer", "23f2"),
    ("weight_lifter", "1f3cb"),
];

/// Further names that gemoji lacks. Their emoji are printed with the gemoji name.
const ALIASES: &[(&str, &str)] =
    &[("laptop", "1f4bb"), ("lightbulb", "1f4a1"), ("thinking_face", "1f914"), ("tools", "1f6e0")];

/// The variation selector for emoji presentation, and the zero-width joiner.
const EMOJI_SELECTOR: char = '\u{fe0f}';
const JOINER: char = '\u{200d}';

/// Returns the code points of an emoji in hexadecimal, by short name.
pub(super) fn code(name: &str) -> Option<String> {
    let own = ADDITIONAL_NAMES.iter().chain(ALIASES).find(|(own, _)| *own == name);
    match own {
        Some((_, code)) => Some((*code).to_owned()),
        None => emojis::get_by_shortcode(name).map(|emoji| code_points(emoji.as_str())),
    }
}

/// Maximum length of an emoji short name, in bytes.
const MAX_NAME: usize = 60;

/// Returns the code points of the emoji whose short name is at the beginning of `text`, such as `:rocket:`, and the
/// length of the name with its colons.
pub(super) fn code_at(text: &str) -> Option<(String, usize)> {
    let window = text[..text.floor_char_boundary(MAX_NAME + 2)].strip_prefix(':')?;
    let name = window.split_once(':')?.0;
    Some((code(name)?, name.len() + 2))
}

/// Returns an emoji like [`code_at`], as text.
pub(crate) fn emoji_at(text: &str) -> Option<(String, usize)> {
    let (code, length) = code_at(text)?;
    Some((self::text(&code)?, length))
}

/// Returns the short name that maps to exactly these code points.
pub(super) fn name(code: &str) -> Option<&'static str> {
    if let Some((name, _)) = ADDITIONAL_NAMES.iter().find(|(_, own)| *own == code) {
        return Some(name);
    }
    let emoji: &'static emojis::Emoji = emojis::get(&text(code)?)?;
    emoji.shortcodes().find(|name| self::code(name).as_deref() == Some(code))
}

/// Returns the code points of an emoji as text.
fn code_points(emoji: &str) -> String {
    let is_joined = emoji.contains(JOINER);
    let points = emoji.chars().filter(|c| is_joined || *c != EMOJI_SELECTOR);
    points.map(|c| format!("{:x}", u32::from(c))).collect::<Vec<_>>().join("-")
}

/// Returns the characters of code points, or `None` for invalid code points.
pub(super) fn text(code: &str) -> Option<String> {
    let text = code
        .split('-')
        .map(|part| {
            u32::from_str_radix(part, 16)
                .ok()
                .and_then(char::from_u32)
                .filter(|c| *c > '\u{7f}' || "#*0123456789".contains(*c))
        })
        .collect::<Option<String>>()?;
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Additional names that existing documents use, with their code points.
    const LEGACY_NAMES: &str = "+1=1f44d -1=1f44e 100=1f4af alarm_clock=23f0 alien=1f47d angry=1f620 apple=1f34e arrow_down=2b07 \
        arrow_left=2b05 arrow_right=27a1 arrow_up=2b06 art=1f3a8 bangbang=203c bar_chart=1f4ca battery=1f50b \
        beer=1f37a beetle=1f41e bell=1f514 bicyclist=1f6b4 bike=1f6b2 bomb=1f4a3 book=1f4d6 bookmark=1f516 \
        bookmark_tabs=1f4d1 books=1f4da boom=1f4a5 brain=1f9e0 briefcase=1f4bc bug=1f41b \
        building_construction=1f3d7 bulb=1f4a1 bust_in_silhouette=1f464 busts_in_silhouette=1f465 cake=1f370 \
        calendar=1f4c6 calendar_spiral=1f5d3 calling=1f4f2 camera=1f4f7 car=1f697 card_index=1f4c7 cat=1f431 \
        chart=1f4b9 chart_with_downwards_trend=1f4c9 chart_with_upwards_trend=1f4c8 checkered_flag=1f3c1 \
        cherry_blossom=1f338 clap=1f44f classical_building=1f3db clipboard=1f4cb cloud=2601 coffee=2615 \
        computer=1f4bb confetti_ball=1f38a construction=1f6a7 construction_worker=1f477 cookie=1f36a \
        credit_card=1f4b3 crown=1f451 crystal_ball=1f52e dart=1f3af date=1f4c5 desktop=1f5a5 diamonds=2666 \
        dna=1f9ec dog=1f436 dollar=1f4b5 door=1f6aa earth_africa=1f30d earth_americas=1f30e earth_asia=1f30f \
        electric_plug=1f50c envelope=2709 exclamation=2757 eye=1f441 eyes=1f440 factory=1f3ed file_cabinet=1f5c4 \
        file_folder=1f4c1 fire=1f525 flag_white=1f3f3 floppy_disk=1f4be fox=1f98a frog=1f438 game_die=1f3b2 \
        gear=2699 gem=1f48e ghost=1f47b gift=1f381 globe_with_meridians=1f310 graduation_cap=1f393 \
        green_circle=1f7e2 grin=1f601 grinning=1f600 guitar=1f3b8 hammer=1f528 hammer_and_wrench=1f6e0 \
        handshake=1f91d headphones=1f3a7 heart=2764 heart_eyes=1f60d heavy_check_mark=2714 heavy_plus_sign=2795 \
        hospital=1f3e5 hourglass=231b house=1f3e0 hugging=1f917 inbox_tray=1f4e5 information_source=2139 \
        interrobang=2049 iphone=1f4f1 joy=1f602 joystick=1f579 key=1f511 keyboard=2328 label=1f3f7 laptop=1f4bb \
        laughing=1f606 leaves=1f343 ledger=1f4d2 lightbulb=1f4a1 link=1f517 lock=1f512 loudspeaker=1f4e2 \
        mag=1f50d mag_right=1f50e magnet=1f9f2 mailbox=1f4eb man=1f468 map=1f5fa medal=1f3c5 mega=1f4e3 \
        memo=1f4dd microscope=1f52c money_with_wings=1f4b8 moneybag=1f4b0 moon=1f314 mountain=26f0 muscle=1f4aa \
        mushroom=1f344 musical_note=1f3b5 new=1f195 newspaper=1f4f0 no_entry=26d4 no_entry_sign=1f6ab \
        notebook=1f4d3 nut_and_bolt=1f529 ok=1f197 ok_hand=1f44c outbox_tray=1f4e4 package=1f4e6 \
        page_facing_up=1f4c4 page_with_curl=1f4c3 paintbrush=1f58c paperclip=1f4ce partying_face=1f973 \
        pencil=1f4dd pencil2=270f penguin=1f427 person=1f9d1 phone=260e pill=1f48a pizza=1f355 point_down=1f447 \
        point_left=1f448 point_right=1f449 point_up=261d postbox=1f4ee potable_water=1f6b0 pray=1f64f \
        printer=1f5a8 purple_heart=1f49c pushpin=1f4cc puzzle_piece=1f9e9 question=2753 rabbit=1f430 \
        rainbow=1f308 raised_hands=1f64c receipt=1f9fe recycle=267b red_circle=1f534 robot=1f916 rocket=1f680 \
        rotating_light=1f6a8 round_pushpin=1f4cd satellite=1f4e1 scales=2696 school=1f3eb scissors=2702 \
        scroll=1f4dc secret=3299 seedling=1f331 shield=1f6e1 shopping_cart=1f6d2 skull=1f480 smile=1f604 \
        smiley=1f603 smirk=1f60f snake=1f40d snowflake=2744 sob=1f62d soon=1f51c sos=1f198 sound=1f509 \
        sparkles=2728 speaker=1f508 speech_balloon=1f4ac star=2b50 star2=1f31f stars=1f320 stopwatch=23f1 \
        sun_with_face=1f31e sunflower=1f33b sunglasses=1f60e sunny=2600 sweat_smile=1f605 syringe=1f489 \
        tada=1f389 telephone=260e telescope=1f52d test_tube=1f9ea thinking=1f914 thinking_face=1f914 \
        thought_balloon=1f4ad thumbsdown=1f44e thumbsup=1f44d ticket=1f3ab timer=23f2 toolbox=1f9f0 tools=1f6e0 \
        traffic_light=1f6a5 triangular_flag_on_post=1f6a9 trophy=1f3c6 truck=1f69a turtle=1f422 tv=1f4fa \
        two_hearts=1f495 umbrella=2614 unicorn=1f984 unlock=1f513 up=1f199 v=270c video_camera=1f4f9 \
        video_game=1f3ae warning=26a0 wastebasket=1f5d1 watch=231a wave=1f44b weight_lifter=1f3cb whale=1f433 \
        white_check_mark=2705 wink=1f609 world_map=1f5fa wrench=1f527 writing_hand=270d x=274c \
        yellow_circle=1f7e1 yum=1f60b zap=26a1 zzz=1f4a4";

    #[test]
    fn every_emoji_has_its_gemoji_name() {
        for (name, code_points, shown) in [
            ("rocket", "1f680", "🚀"),
            ("face_with_head_bandage", "1f915", "🤕"),
            ("de", "1f1e9-1f1ea", "🇩🇪"),
            ("hash", "23-20e3", "#\u{20e3}"),
            ("arrow_down", "2b07", "\u{2b07}"),
            ("heart_on_fire", "2764-fe0f-200d-1f525", "❤️‍🔥"),
            ("family_man_woman_girl_boy", "1f468-200d-1f469-200d-1f467-200d-1f466", "👨‍👩‍👧‍👦"),
        ] {
            assert_eq!(code(name).as_deref(), Some(code_points), "{name}");
            assert_eq!(text(code_points).as_deref(), Some(shown), "{name}");
            assert_eq!(self::name(code_points), Some(name));
        }
        assert_eq!((code("none"), code(""), name("1f41"), name("zz")), (None, None, None, None));
    }

    #[test]
    fn printed_emoji_names_parse_to_the_same_emoji() {
        for emoji in emojis::iter().filter(|emoji| emoji.shortcode().is_some()) {
            let code_points = code_points(emoji.as_str());
            assert!(text(&code_points).is_some(), "{emoji}");
            match name(&code_points) {
                Some(name) => assert_eq!(code(name), Some(code_points), "{name}"),
                // [`ADDITIONAL_NAMES`] redefines the gemoji name.
                None => assert_eq!(emoji.shortcode(), Some("beetle")),
            }
            for name in emoji.shortcodes() {
                assert!(code(name).is_some() && name.len() <= 60, "{name}");
            }
        }
    }

    #[test]
    fn original_names_keep_their_meaning() {
        let mut printed = std::collections::HashMap::new();
        for (name, code_points) in LEGACY_NAMES.split_whitespace().filter_map(|known| known.split_once('=')) {
            assert_eq!(code(name).as_deref(), Some(code_points), "{name}");
            printed.entry(code_points).or_insert(name);
        }
        assert_eq!(printed.len(), 250);
        for (code_points, name) in printed {
            assert_eq!(self::name(code_points), Some(name));
        }
    }

    #[test]
    fn invalid_and_ascii_letter_code_points_have_no_text() {
        assert_eq!(
            (text("1f680").as_deref(), text("41"), text(""), text("110000")),
            (Some("🚀"), None, None, None)
        );
    }
}
