//! The labels of API descriptions.

/// The labels of API descriptions in one language.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApiWords {
    pub(crate) parameters: &'static str,
    pub(crate) body: &'static str,
    pub(crate) request: &'static str,
    pub(crate) responses: &'static str,
    pub(crate) headers: &'static str,
    pub(crate) callbacks: &'static str,
    pub(crate) servers: &'static str,
    pub(crate) example: &'static str,
    pub(crate) required: &'static str,
    pub(crate) deprecated: &'static str,
    pub(crate) read_only: &'static str,
    pub(crate) write_only: &'static str,
    pub(crate) recursive: &'static str,
    pub(crate) authorization: &'static str,
    pub(crate) no_authorization: &'static str,
    pub(crate) or: &'static str,
    pub(crate) none: &'static str,
    pub(crate) default: &'static str,
    pub(crate) values: &'static str,
    pub(crate) one_of: &'static str,
    pub(crate) any_of: &'static str,
    pub(crate) length: &'static str,
    pub(crate) items: &'static str,
    pub(crate) fields: &'static str,
    pub(crate) pattern: &'static str,
    pub(crate) multiple_of: &'static str,
    pub(crate) unique_items: &'static str,
    pub(crate) other_fields: &'static str,
    pub(crate) no_other_fields: &'static str,
    pub(crate) left_out: &'static str,
    pub(crate) links: &'static str,
}

macro_rules! api_words {
    ($($name:ident = [$parameters:literal, $body:literal, $request:literal, $responses:literal, $headers:literal,
       $callbacks:literal, $servers:literal, $example:literal, $required:literal, $deprecated:literal,
       $read_only:literal, $write_only:literal, $recursive:literal, $authorization:literal,
       $no_authorization:literal, $or:literal, $none:literal, $default:literal, $values:literal, $one_of:literal,
       $any_of:literal, $length:literal, $items:literal, $fields:literal, $pattern:literal, $multiple_of:literal,
       $unique_items:literal, $other_fields:literal, $no_other_fields:literal, $left_out:literal, $links:literal $(,)?]);* $(;)?) => {$(
        pub(super) const $name: ApiWords = ApiWords {
            parameters: $parameters, body: $body, request: $request, responses: $responses, headers: $headers,
            callbacks: $callbacks, servers: $servers, example: $example, required: $required,
            deprecated: $deprecated, read_only: $read_only, write_only: $write_only, recursive: $recursive,
            authorization: $authorization, no_authorization: $no_authorization, or: $or, none: $none,
            default: $default, values: $values, one_of: $one_of, any_of: $any_of, length: $length, items: $items,
            fields: $fields, pattern: $pattern, multiple_of: $multiple_of, unique_items: $unique_items,
            other_fields: $other_fields, no_other_fields: $no_other_fields, left_out: $left_out, links: $links,
        };
    )*};
}

api_words! {
    EN = ["Parameters", "Request body", "Request", "Responses", "Headers", "Callbacks", "Servers", "Example",
        "required", "deprecated", "read-only", "write-only", "recursive", "Authorization",
        "No authorization required", "or", "none", "Default", "Values", "One of", "Any of", "length", "items",
        "fields", "Pattern", "multiple of", "unique items", "other fields", "no other fields",
        "Some parts are left out because they exceed the size limit.", "Links"];
    FR = ["Paramètres", "Corps de la requête", "Requête", "Réponses", "En-têtes", "Rappels", "Serveurs", "Exemple",
        "obligatoire", "obsolète", "lecture seule", "écriture seule", "récursif", "Autorisation",
        "Aucune autorisation requise", "ou", "aucune", "Par défaut", "Valeurs", "Un parmi", "Au moins un parmi",
        "longueur", "éléments", "champs", "Motif", "multiple de", "éléments uniques", "autres champs",
        "aucun autre champ", "Certaines parties sont omises, car elles dépassent la taille maximale.", "Liens"];
    ES = ["Parámetros", "Cuerpo de la solicitud", "Solicitud", "Respuestas", "Cabeceras", "Devoluciones de llamada",
        "Servidores", "Ejemplo", "obligatorio", "obsoleto", "solo lectura", "solo escritura", "recursivo",
        "Autorización", "No requiere autorización", "o", "ninguna", "Por defecto", "Valores", "Uno de",
        "Al menos uno de", "longitud", "elementos", "campos", "Patrón", "múltiplo de", "elementos únicos",
        "otros campos", "ningún otro campo", "Se omiten algunas partes porque superan el tamaño máximo.", "Enlaces"];
    ZH = ["参数", "请求体", "请求", "响应", "标头", "回调", "服务器", "示例", "必填", "已弃用", "只读", "只写", "递归", "授权",
        "无需授权", "或", "无", "默认值", "可选值", "其中之一", "其中至少一个", "长度", "项", "字段", "正则表达式", "倍数",
        "项不重复", "其他字段", "无其他字段", "部分内容超出大小限制，未显示。", "链接"];
    JA = ["パラメーター", "リクエストボディ", "リクエスト", "レスポンス", "ヘッダー", "コールバック", "サーバー", "例", "必須",
        "非推奨", "読み取り専用", "書き込み専用", "再帰", "認可", "認可は不要", "または", "なし", "既定値", "値",
        "いずれか一つ", "一つ以上", "長さ", "要素", "フィールド", "パターン", "次の倍数", "要素は重複なし", "その他のフィールド",
        "その他のフィールドなし", "サイズの上限を超えるため、一部を省略しています。", "リンク"];
    DE = ["Parameter", "Inhalt der Anfrage", "Anfrage", "Antworten", "Header", "Callbacks", "Server", "Beispiel",
        "erforderlich", "veraltet", "nur lesbar", "nur schreibbar", "rekursiv", "Autorisierung",
        "Keine Autorisierung erforderlich", "oder", "keine", "Standardwert", "Werte", "Eines von",
        "Mindestens eines von", "Länge", "Elemente", "Felder", "Muster", "Vielfaches von", "eindeutige Elemente",
        "weitere Felder", "keine weiteren Felder", "Einige Teile überschreiten die maximale Größe und fehlen hier.", "Links"];
    NL = ["Parameters", "Inhoud van het verzoek", "Verzoek", "Antwoorden", "Headers", "Callbacks", "Servers",
        "Voorbeeld", "verplicht", "verouderd", "alleen lezen", "alleen schrijven", "recursief", "Autorisatie",
        "Geen autorisatie vereist", "of", "geen", "Standaardwaarde", "Waarden", "Eén van", "Minstens één van",
        "lengte", "items", "velden", "Patroon", "veelvoud van", "unieke items", "andere velden",
        "geen andere velden", "Sommige delen zijn weggelaten omdat ze te groot zijn.", "Links"];
    NO = ["Parametere", "Innhold i forespørselen", "Forespørsel", "Svar", "Hoder", "Tilbakekall", "Tjenere",
        "Eksempel", "påkrevd", "utfaset", "skrivebeskyttet", "kun skriving", "rekursiv", "Autorisasjon",
        "Ingen autorisasjon kreves", "eller", "ingen", "Standardverdi", "Verdier", "Én av", "Minst én av", "lengde",
        "elementer", "felter", "Mønster", "multiplum av", "unike elementer", "andre felter", "ingen andre felter",
        "Noen deler er utelatt fordi de overskrider størrelsesgrensen.", "Lenker"];
    PT_BR = ["Parâmetros", "Corpo da requisição", "Requisição", "Respostas", "Cabeçalhos", "Callbacks", "Servidores",
        "Exemplo", "obrigatório", "obsoleto", "somente leitura", "somente gravação", "recursivo", "Autorização",
        "Nenhuma autorização necessária", "ou", "nenhuma", "Padrão", "Valores", "Um de", "Pelo menos um de",
        "comprimento", "itens", "campos", "Expressão regular", "múltiplo de", "itens únicos", "outros campos",
        "nenhum outro campo", "Algumas partes foram omitidas porque excedem o tamanho máximo.", "Links"];
    RU = ["Параметры", "Тело запроса", "Запрос", "Ответы", "Заголовки", "Обратные вызовы", "Серверы", "Пример",
        "обязательно", "устарело", "только чтение", "только запись", "рекурсия", "Авторизация",
        "Авторизация не требуется", "или", "без авторизации", "По умолчанию", "Значения", "Один из",
        "Хотя бы один из", "длина", "элементы", "поля", "Шаблон", "кратно", "уникальные элементы", "другие поля",
        "без других полей", "Некоторые части опущены, так как превышают допустимый размер.", "Ссылки"];
}
