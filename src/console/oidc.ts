import * as client from 'openid-client';
import { ConnectorError } from '../errors.ts';
import { isLoopback, type OidcSettings, type Person } from './access.ts';

/** Stored in the browser that begins a sign-in, and checked when it returns. */
export interface Begun {
  state: string;
  nonce: string;
  verifier: string;
}

export interface Oidc {
  /** The provider's name for display. */
  at: string;
  begin(): Promise<{ to: URL; begun: Begun }>;
  /** @throws ConnectorError SIGN_IN_REFUSED, NO_ROLE */
  finish(callback: URL, begun: Begun): Promise<Person>;
}

/**
 * Signs in through a provider: authorization code with PKCE, state and nonce. The library checks issuer, audience,
 * nonce and times of the ID token and, because it is told to, its signature; an unsigned token is refused.
 */
export function createOidc(settings: OidcSettings, url: URL): Oidc {
  const redirectUri = new URL('/sign-in/callback', url).href;
  let discovered: Promise<client.Configuration> | undefined;
  const configuration = (): Promise<client.Configuration> => {
    discovered ??= discover(settings).catch((error: unknown) => {
      // Try again at the next sign-in: the provider may have been down for a moment.
      discovered = undefined;
      throw unreachable(settings, error);
    });
    return discovered;
  };
  return {
    at: new URL(settings.issuer).host,
    async begin() {
      const begun = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const to = client.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: settings.scope,
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: 'S256',
      });
      return { to, begun };
    },
    async finish({ search }, { state, nonce, verifier }) {
      const config = await configuration();
      try {
        const tokens = await client.authorizationCodeGrant(config, new URL(redirectUri + search), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const own = tokens.claims();
        if (own === undefined) throw new Error('the provider gave no ID token');
        const asked = config.serverMetadata().userinfo_endpoint !== undefined;
        const told = asked ? await client.fetchUserInfo(config, tokens.access_token, own.sub) : {};
        return personOf(settings, { ...told, ...own });
      } catch (error) {
        throw error instanceof ConnectorError ? error : refused(error);
      }
    },
  };
}

const REQUEST_SECONDS = 10;

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<client.Configuration> {
  const isLocal = isLoopback(new URL(issuer).hostname);
  const config = await client.discovery(
    new URL(issuer),
    clientId,
    {},
    clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret),
    { execute: isLocal ? [client.allowInsecureRequests] : [], timeout: REQUEST_SECONDS },
  );
  client.enableNonRepudiationChecks(config);
  return config;
}

/** The person, with the file's grants for them. An e-mail address that its owner never verified does not count. */
function personOf({ issuer, name, roles }: OidcSettings, claims: Readonly<Record<string, unknown>>): Person {
  const valuesOf = (claim: string): unknown[] => {
    if (claim === 'email' && claims['email_verified'] !== true) return [];
    return [claims[claim]].flat();
  };
  const [by] = valuesOf(name);
  const grants = roles.filter(({ claim, value }) => valuesOf(claim).includes(value));
  if (typeof by === 'string' && by !== '' && grants.length > 0)
    return {
      by,
      actor: `oidc:${issuer}#${String(claims['sub'])}`,
      grants: grants.map(({ role, tenants }) => ({ role, tenants })),
    };
  throw new ConnectorError({
    code: 'NO_ROLE',
    action: 'reject',
    message:
      grants.length > 0
        ? `The provider names nobody: its claim ${name} is missing${name === 'email' ? ', or not verified' : ''}. ` +
          'Name another claim in oidc.name of the access file.'
        : 'You are signed in, but have no role here. Ask an admin to add one of your claims to oidc.roles of the ' +
          'access file.',
  });
}

function refused(cause: unknown): ConnectorError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  return new ConnectorError({
    code: 'SIGN_IN_REFUSED',
    action: 'reject',
    message: `The answer of the sign-in provider was refused (${code}), and nobody was signed in. Sign in again.`,
    cause,
  });
}

function unreachable({ issuer }: OidcSettings, cause: unknown): ConnectorError {
  return new ConnectorError({
    code: 'SIGN_IN_UNREACHABLE',
    action: 'retry',
    message: `The sign-in provider at ${new URL(issuer).host} does not answer correctly. Try again in a moment.`,
    cause,
  });
}
