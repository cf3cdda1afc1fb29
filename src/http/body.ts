import { promisify } from 'node:util';
import { unzip } from 'node:zlib';
import { exchangeError } from './exchange.ts';

const unpack = promisify<Buffer, { maxOutputLength: number }, Buffer>(unzip);

/**
 * Unpacks a body of Content-Encoding gzip or deflate, and stops at `maxBytes`: a few kilobytes may unpack to gigabytes.
 */
export async function decodeBody(
  body: Buffer,
  encoding: string | string[] | undefined,
  maxBytes: number,
): Promise<Buffer> {
  const name = String(encoding ?? 'identity')
    .trim()
    .toLowerCase();
  if (name === 'identity' || name === '' || body.length === 0) return body;
  if (name !== 'gzip' && name !== 'x-gzip' && name !== 'deflate') throw exchangeError('UNREADABLE_BODY');
  try {
    return await unpack(body, { maxOutputLength: maxBytes });
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw exchangeError(tooLarge ? 'ANSWER_TOO_LARGE' : 'UNREADABLE_BODY', error);
  }
}
