import { ConnectorError, type ErrorAction, isConnectorError } from '../../errors.ts';
import type { SftpOptions } from './options.ts';

export interface Attempted {
  /** Names the call, with the path. */
  what: string;
  /** The request left, and no answer came. */
  sent: boolean;
  /** The caller stopped waiting. */
  stopped: boolean;
}

interface Meaning {
  code: string;
  action: ErrorAction;
  text: string;
}

/** By status of the SFTP protocol, version 3 (draft-ietf-secsh-filexfer-02, section 7). */
const BY_STATUS: Readonly<Record<number, Meaning>> = {
  2: {
    code: 'HRIS_MISCONFIGURED',
    action: 'reject',
    text: 'there is no such file or folder. Make it, or name the right one under hris.folders',
  },
  3: {
    code: 'HRIS_FORBIDDEN',
    action: 'reauthorize',
    text: 'this user may not do that. Grant it on the server, or name the right user in hris.user',
  },
};
const FAILURE: Meaning = {
  code: 'HRIS_ERROR',
  action: 'retry',
  text: 'the server failed. Its disk or quota may be full; its own log says more',
};

/** The status with which the server answered; undefined if it did not. */
export function statusOf(error: unknown): number | undefined {
  const { code } = error as { code?: unknown };
  // The reason of an aborted signal has a numeric code, too; it is no status.
  return typeof code === 'number' && !(error instanceof DOMException) ? code : undefined;
}

/** Turns an error of ssh2 into a ConnectorError. A write that left without an answer is unknown. */
export function explainSftpError(error: unknown, { what, sent, stopped }: Attempted): ConnectorError {
  if (isConnectorError(error)) return error.code === 'PRIVATE_ADDRESS' ? privateAddress(error) : error;
  const status = statusOf(error);
  if (status !== undefined) {
    const { text, ...meaning } = BY_STATUS[status] ?? FAILURE;
    return new ConnectorError({ ...meaning, message: `${what}: ${text}.`, cause: error });
  }
  if (sent)
    return new ConnectorError({
      code: 'HRIS_UNREACHABLE',
      action: 'unknown',
      message: `${what}: the connection ended before the server answered. It is looked up before anything is repeated.`,
      cause: error,
    });
  if (stopped)
    return new ConnectorError({
      code: 'STOPPED',
      action: 'retry',
      message: `${what} was stopped by the caller; nothing was delivered.`,
      cause: error,
    });
  return explainConnecting(error, what);
}

/** Pauses the HRIS instead of one hire. */
function privateAddress({ message }: ConnectorError): ConnectorError {
  return new ConnectorError({ code: 'HRIS_PRIVATE_ADDRESS', action: 'reject', message });
}

function explainConnecting(error: unknown, what: string): ConnectorError {
  const said = error instanceof Error ? error.message : '';
  if (said.includes('privateKey'))
    return new ConnectorError({
      code: 'HRIS_AUTH',
      action: 'reauthorize',
      message:
        'The private key cannot be read. Check that the secret behind hris.privateKey is an OpenSSH or PEM key, and ' +
        'hris.passphrase if it has one.',
    });
  if ((error as { level?: unknown }).level === 'client-authentication')
    return new ConnectorError({
      code: 'HRIS_AUTH',
      action: 'reauthorize',
      message:
        "The SFTP server refuses this user or key. Check hris.user, and that the key's public half is among the " +
        "user's authorized keys there.",
    });
  return new ConnectorError({
    code: 'HRIS_UNREACHABLE',
    action: 'retry',
    message: `${what}: the SFTP server cannot be reached, or ended the connection. Check hris.host and hris.port.`,
    cause: error,
  });
}

/** Another server may be in between: nothing was sent, not even a name. */
export function wrongHostKey({ host, port, hostKeys }: SftpOptions, shown: string): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_HOST_KEY',
    action: 'reauthorize',
    message:
      `${host}:${port} shows the host key ${shown}, but hris.hostKey pins ${hostKeys.join(', ')}. Nothing was ` +
      "sent. Ask the server's administrators which one is right; add the new one to hris.hostKey only then.",
    details: { shown, pinned: hostKeys },
  });
}
