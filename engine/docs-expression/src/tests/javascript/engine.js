// Evaluates expressions as this JavaScript engine does. A line of input is a batch: `contexts`, and `cases`, each with a
// `source` and the number of its context. A line of output has for each of them how it ended: what `shown` writes, its
// truth, and how it stands in text.
'use strict';

const vm = require('node:vm');

const LONGEST = 200_000;
const surrogate = /[\ud800-\udfff]/;

// A half of a pair of UTF-16 that stays alone is U+FFFD, as everywhere in the platform: text is Unicode.
const whole = (value) => (typeof value === 'string' ? value.toWellFormed() : value);

const define = (object, name, value) => Object.defineProperty(object, name, { value, configurable: true });

// Puts another function in the place of a native one, with the text of that.
const replaced = (name, by) => {
    const text = String(String.prototype[name]);
    define(by, 'toString', () => text);
    define(String.prototype, name, by);
};

for (const name of ['at', 'charAt', 'slice', 'substring', 'substr', 'padStart', 'padEnd']) {
    const native = String.prototype[name];
    replaced(name, function () { return whole(native.apply(this, arguments)); });
}
function unicode(source) {
    try {
        return new RegExp(source, 'u');
    } catch {
        return undefined;
    }
}

// Patterns are read over characters, not over halves of pairs.
for (const name of ['match', 'search']) {
    const native = String.prototype[name];
    replaced(name, function (pattern) {
        const asked = (pattern) => (name === 'match' ? found(native.call(this, pattern)) : native.call(this, pattern));
        if (pattern instanceof RegExp || pattern === undefined) return asked(pattern);
        const source = String(pattern);
        // Without the flag, more is read.
        const plain = new RegExp(source);
        return asked(surrogate.test(this + source) ? unicode(source) ?? plain : plain);
    });
}
// Nothing separates two characters, but not the halves of one.
const split = String.prototype.split;
replaced('split', function (separator, limit) {
    if (separator instanceof RegExp || separator === undefined) return split.call(this, separator, limit);
    const text = String(separator);
    return text === '' ? split.call(this, /(?:)/u, limit) : split.call(this, text, limit);
});
const { replace, replaceAll } = String.prototype;
replaced('replace', function (what, by) { return replace.call(this, what, told(by)); });
replaced('replaceAll', function (what, by) {
    if (what instanceof RegExp) return replaceAll.call(this, what, told(by));
    const text = String(what);
    if (typeof by !== 'function') by = String(by);
    return replaceAll.call(this, text === '' ? /(?:)/gu : text, told(by));
});

// The groups that a function is told by name are an object as any other.
function told(by) {
    const plain = (value) => (value !== null && typeof value === 'object' ? { ...value } : value);
    return typeof by === 'function' ? (...all) => by(...all.map(plain)) : by;
}

// A place that was found is an array and nothing more.
function found(place) {
    if (place !== null) for (const name of ['index', 'input', 'groups']) delete place[name];
    return place;
}

// A pattern remembers nothing from one test to the next.
define(RegExp.prototype, '$test', function (text) { this.lastIndex = 0; return this.test(text); });
define(RegExp.prototype, '$exec', function (text) { this.lastIndex = 0; return found(this.exec(text)); });

const asked = [];
const helpers = {
    // A function, a pattern, and their texts.
    $function: (value, text) => define(value, 'toString', () => text),
    $whole: whole,
    // `a in b` becomes `$what(a) in $of(b)`.
    $what: (value) => { asked.push(value); return ''; },
    $of: (value) => {
        const what = asked.pop();
        let found;
        if (Array.isArray(value)) found = value.some((item) => item === what);
        else if (typeof value === 'string') found = value.includes(String(what));
        else if (value !== null && typeof value === 'object' && !(value instanceof RegExp)) found = Object.hasOwn(value, what);
        else throw new TypeError('`in` takes an array, a text or an object');
        return new Proxy({}, { has: () => found });
    },
    $matches: (text, pattern) => {
        if (!(pattern instanceof RegExp)) throw new TypeError('`=~` takes a pattern');
        return pattern.$test(String(text));
    },
    $instance: () => { throw new TypeError('there are no classes'); },
};

// The names of a context and nothing else; what is stored is forgotten.
function scope(context) {
    return new Proxy({}, {
        has: () => true,
        get: (_, name) => {
            if (typeof name === 'symbol') return undefined;
            return Object.hasOwn(helpers, name) ? helpers[name] : Object.hasOwn(context, name) ? context[name] : undefined;
        },
        set: () => true,
    });
}

function frozen(value) {
    if (value !== null && typeof value === 'object') Object.values(value).forEach(frozen);
    return Object.freeze(value);
}

function shown(value) {
    switch (typeof value) {
        case 'string': return JSON.stringify(whole(value));
        case 'number': return Object.is(value, -0) ? '-0' : String(value);
        case 'bigint': return `${value}n`;
        case 'function': return 'function';
        case 'object': break;
        default: return String(value);
    }
    if (value === null) return 'null';
    if (Array.isArray(value)) return `[${Array.from(value, shown).join(', ')}]`;
    if (value instanceof RegExp) return value.toString();
    const names = Object.keys(value).map((name) => [whole(name), shown(value[name])]);
    names.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return `{${names.map(([name, inner]) => `${JSON.stringify(name)}: ${inner}`).join(', ')}}`;
}

function evaluated(source, context) {
    let run;
    try {
        run = new Function('$scope', `with ($scope) { return (${source}\n) }`);
    } catch (error) {
        return { refused: error.message };
    }
    asked.length = 0;
    try {
        const value = run(scope(context));
        const text = shown(value);
        if (text.length > LONGEST) return { long: true };
        const inline = ['string', 'number', 'boolean', 'bigint'].includes(typeof value) ? whole(String(value)) : '';
        return { value: text, holds: Boolean(value), inline };
    } catch (error) {
        return { failed: error.message };
    }
}

// Whether text is exactly one expression: a script, and what can stand in parentheses but for a semicolon at its end.
function read(source) {
    const end = /^;(?:\s|\/\/.*|\/\*[^]*?\*\/)*$/;
    try {
        new vm.Script(source);
        const ends = [...source.matchAll(/;/g)].filter(({ index }) => end.test(source.slice(index)));
        return { read: isOperand(source) || ends.some(({ index }) => isOperand(source.slice(0, index))) };
    } catch (error) {
        return { refused: error.message };
    }
}

function isOperand(source) {
    try {
        new Function(`return (${source}\n)`);
        return true;
    } catch {
        return false;
    }
}

require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { contexts, cases } = JSON.parse(line);
    const worlds = contexts.map(({ signed, unsigned, space, page }) =>
        frozen({ visitor: { claims: { ...signed, unsigned } }, space: { vars: space }, page: { vars: page } }));
    const answers = cases.map(({ source, context }) =>
        context === undefined ? read(source) : evaluated(source, worlds[context]));
    process.stdout.write(`${JSON.stringify(answers)}\n`);
});
