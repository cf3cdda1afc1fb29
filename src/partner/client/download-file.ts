import { ConnectorError, isConnectorError } from '../../errors.ts';
import { openPool } from '../../http/pool.ts';
import { sendRequest } from '../../http/request.ts';

/** Journey uploads are at most 10 MB (section 8); HR systems with a stated limit take 20. */
export const MAX_FILE_BYTES = 20 * 1024 * 1024;

export interface DownloadedFile {
  bytes: Buffer;
  /** Without parameters: `application/pdf`. */
  mediaType: string;
}

export interface DownloadOptions {
  /** For a local sandbox: plain http and private addresses. */
  allowPrivate: boolean;
  signal: AbortSignal;
}

/**
 * The file behind a time-limited URL (section 8), whole or not at all. The address comes from the partner, so the key
 * is never sent to it, private addresses are never called, and no redirect is followed. Errors show no part of it: it
 * opens the file to anybody who has it, and its path may be a person's name.
 * @throws ConnectorError FILE_UNREACHABLE (retry), FILE_UNAVAILABLE (reject)
 */
export async function downloadFile(url: string, { allowPrivate, signal }: DownloadOptions): Promise<DownloadedFile> {
  try {
    return await download(url, { allowPrivate, signal });
  } catch (error) {
    if (!isConnectorError(error) || error.code.startsWith('FILE_')) throw error;
    const isFinal = error.action === 'reject' || error.code === 'ANSWER_TOO_LARGE';
    throw isFinal ? unavailable(reasons[error.code] ?? error.code) : unreachable(error.code);
  }
}

async function download(url: string, { allowPrivate, signal }: DownloadOptions): Promise<DownloadedFile> {
  const pool = openPool(url, { allowPrivate, connections: 1 });
  try {
    const { pathname, search } = new URL(url);
    const answer = await sendRequest(pool, {
      method: 'GET',
      path: pathname + search,
      maxBodyBytes: MAX_FILE_BYTES,
      signal,
    });
    const { status, headers, body } = answer;
    if (status >= 500 || status === 429) throw unreachable(`status ${status}`);
    if (status !== 200) throw unavailable(`it was answered with status ${status}`);
    const mediaType =
      String(headers['content-type'] ?? '')
        .split(';', 1)[0]
        ?.trim()
        .toLowerCase() ?? '';
    if (body.length === 0) throw unavailable('it is empty');
    if (mediaType === 'text/html') throw unavailable('its address leads to a web page');
    return { bytes: body, mediaType: mediaType === '' ? 'application/octet-stream' : mediaType };
  } finally {
    await pool.close();
  }
}

const reasons: Readonly<Record<string, string>> = {
  ANSWER_TOO_LARGE: 'it is larger than 20 MB',
  PRIVATE_ADDRESS: 'its address is not of the public internet',
  HTTPS_REQUIRED: 'its address is not https',
  BAD_URL: 'its address is not a URL',
};

function unavailable(why: string): ConnectorError {
  return new ConnectorError({
    code: 'FILE_UNAVAILABLE',
    action: 'reject',
    message: `The hiring platform's file cannot be copied: ${why}.`,
  });
}

function unreachable(why: string): ConnectorError {
  return new ConnectorError({
    code: 'FILE_UNREACHABLE',
    action: 'retry',
    message: `The hiring platform's file cannot be read now (${why}). It is tried again with the next pass.`,
  });
}
