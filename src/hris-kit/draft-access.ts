import { isObject, type Json, listOf, type OpenApiDocument, type Operation } from './openapi-document.ts';

interface Access {
  auth: Json;
  options: Record<string, Json>;
  notes: string[];
}

const NO_SERVER = 'https://document.invalid';

/** How a client signs in, as far as the document says it: the way that the list asks for, or else the first known. */
export function draftAccess(document: OpenApiDocument, list: Operation | undefined): Access {
  const schemes = {
    ...((document.at('components') as Json | undefined)?.['securitySchemes'] as Json | undefined),
    ...(document.at('securityDefinitions') as Json | undefined),
  };
  const asked = listOf(list?.operation['security'] ?? document.at('security')).filter(isObject);
  const wanted = asked.flatMap((one) => Object.entries(one));
  for (const name of new Set([...wanted.map(([one]) => one), ...Object.keys(schemes)])) {
    const scopes = listOf(wanted.find(([one]) => one === name)?.[1]);
    const access = accessOf(document.deref(schemes[name]), scopes, document.server);
    if (access !== undefined) return access;
  }
  return {
    auth: { bearer: '{options.token}' },
    options: { token: { secret: true } },
    notes: ['"auth": the document does not say how a client signs in; a bearer token is a guess'],
  };
}

function accessOf(scheme: Json, asked: readonly unknown[], server: string | undefined): Access | undefined {
  const { type, scheme: way, in: where, name, flow } = scheme;
  const secret = { secret: true };
  const user = { basic: { user: '{options.user}', password: '{options.password}' } };
  if (type === 'basic' || (type === 'http' && way === 'basic'))
    return { auth: user, options: { user: {}, password: secret }, notes: [] };
  if (type === 'http') return { auth: { bearer: '{options.token}' }, options: { token: secret }, notes: [] };
  if (type === 'apiKey' && (where === 'header' || where === 'query')) {
    const isBare = String(name).toLowerCase() !== 'authorization';
    const notes = isBare ? [] : ['"auth": whether a word such as Bearer or Token comes before the key'];
    const auth = { [where === 'header' ? 'headers' : 'query']: { [String(name)]: '{options.apiKey}' } };
    return { auth, options: { apiKey: secret }, notes };
  }
  const flows = scheme['flows'] as Record<string, Json> | undefined;
  const [client, login] = [
    flows?.['clientCredentials'] ?? (flow === 'application' ? scheme : undefined),
    flows?.['password'] ?? (flow === 'password' ? scheme : undefined),
  ];
  const tokenUrl = (client ?? login)?.['tokenUrl'];
  if (type !== 'oauth2' || typeof tokenUrl !== 'string') return undefined;
  const path = pathOf(tokenUrl, server);
  const notes = /^https?:/.test(tokenUrl)
    ? []
    : [`"auth": the path of the token endpoint below hris.url, or its whole address; ${path} is a guess`];
  if (client === undefined) {
    const call = {
      post: path,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: { grant_type: 'password', username: '{options.user}', password: '{options.password}' },
      token: 'body.access_token',
      carry: { authorization: 'Bearer {token}' },
    };
    return { auth: { login: call }, options: { user: {}, password: secret }, notes };
  }
  const scopes = asked.length > 0 ? asked : Object.keys((client['scopes'] ?? {}) as Json);
  const oauth2 = {
    tokenPath: path,
    clientId: '{options.clientId}',
    clientSecret: '{options.clientSecret}',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
  return {
    auth: { oauth2 },
    options: { clientId: {}, clientSecret: secret },
    notes: [...notes, '"auth.oauth2.credentials": whether the id and secret are sent as basic, or in the body'],
  };
}

/** Below the address of the paths, or a whole address. */
function pathOf(tokenUrl: string, server: string | undefined): string {
  if (!URL.canParse(tokenUrl, NO_SERVER)) return '/';
  if (!/^https?:/.test(tokenUrl)) return new URL(tokenUrl, NO_SERVER).pathname;
  const base = `${server?.replace(/\/+$/, '')}/`;
  return tokenUrl.startsWith(base) ? tokenUrl.slice(base.length - 1) : tokenUrl;
}
