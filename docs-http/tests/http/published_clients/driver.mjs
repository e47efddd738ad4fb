// Calls operations with a published client. Arguments: the folder of its package, and the base URL of the server.
//
// Reads one request per line from the standard input, `{ operation, parameters, query, body, token }`, and writes one
// response per line, `{ method, path, status, text, error }`. `error` is set if the client throws although the status
// is a success.

import { pathToFileURL } from 'node:url';
import { createInterface } from 'node:readline';

const [folder, endpoint] = process.argv.slice(2);
const { GitBookAPI } = await import(pathToFileURL(`${folder}/dist/index.js`).href);

/** The last exchange with the server, recorded below the client. */
let exchange;

const serviceBinding = {
    async fetch(input, init) {
        const response = await fetch(input, init);
        const text = await response.clone().text();
        const path = new URL(response.url).pathname;
        exchange = { method: init.method, path, status: response.status, text };
        return response;
    },
};

const client = new GitBookAPI({ endpoint, serviceBinding });

/** Returns the method of the client that calls an operation. Generated names have other capitals in acronyms. */
function methodOf(operation) {
    const groups = [client, ...Object.values(client)].filter((group) => typeof group === 'object' && group);
    const methods = groups.flatMap((group) => Object.entries(group));
    const isCalled = ([name]) => name.toLowerCase() === operation.toLowerCase();
    const found = methods.find((entry) => isCalled(entry) && typeof entry[1] === 'function');
    if (!found) throw new Error(`the client has no method ${operation}`);
    return found[1];
}

/** Returns the arguments of a method, in the order of its declaration. */
function argumentsOf(method, { parameters, query, body }) {
    const declared = method.toString().match(/^\(([^)]*)\)/)[1];
    const names = declared.split(',').map((name) => name.trim().split(/[ =]/)[0]).filter(Boolean);
    return names.map((name) => {
        if (name === 'query') return query ?? {};
        if (name === 'data') return body ?? undefined;
        if (name === 'params') return {};
        if (name in parameters) return parameters[name];
        throw new Error(`no value for the argument ${name}`);
    });
}

async function call(request) {
    exchange = {};
    client.setSecurityData({ authToken: request.token });
    try {
        const method = methodOf(request.operation);
        const result = await method(...argumentsOf(method, request));
        if (result?.[Symbol.asyncIterator]) {
            for await (const _ of result);
        }
    } catch (error) {
        const isRejection = exchange.status >= 400;
        return isRejection ? exchange : { ...exchange, error: String(error) };
    }
    return exchange;
}

for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await call(JSON.parse(line)))}\n`);
}
