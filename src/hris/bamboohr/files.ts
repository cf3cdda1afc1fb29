import { z } from 'zod';
import { isConnectorError } from '../../errors.ts';
import type { EmployeeFile, WriteOptions } from '../port.ts';
import type { Bamboo } from './find.ts';

const View = z.looseObject({
  categories: z.array(
    z.looseObject({
      id: z.number(),
      files: z.array(z.looseObject({ id: z.number(), name: z.string(), size: z.number().optional() })).optional(),
    }),
  ),
});

/** Into a section of the employee's files, unless the same bytes are there under this name. */
export async function deliverFile(
  bamboo: Bamboo,
  { id, category }: { id: string; category: number },
  file: EmployeeFile,
  { signal, beforeSend }: WriteOptions,
): Promise<'delivered' | 'there'> {
  const place = `/api/v1/employees/${encodeURIComponent(id)}/files`;
  if (await isThere(bamboo, place, file, signal)) return 'there';
  const form = new FormData();
  form.set('fileName', file.name);
  form.set('category', String(category));
  form.set('share', 'no');
  form.set('file', new Blob([new Uint8Array(file.bytes)], { type: file.mediaType }), file.name);
  const encoded = new Response(form);
  const what = 'POST employees/{id}/files';
  const upload = { contentType: encoded.headers.get('content-type') ?? '', body: await encoded.bytes() };
  // Whatever became of an upload, the next delivery looks first.
  await bamboo.api.send({ what, method: 'POST', path: place, upload, idempotent: true, signal, beforeSend });
  return 'delivered';
}

async function isThere({ api }: Bamboo, place: string, file: EmployeeFile, signal: AbortSignal): Promise<boolean> {
  const call = { what: 'GET employees/{id}/files/view', method: 'GET', path: `${place}/view`, signal } as const;
  // Without a section that we may see the answer is 404, as it is for an employee who is not there.
  const view = await api.json(call).catch((error: unknown) => {
    if (isConnectorError(error) && error.status === 404) return { categories: [] };
    throw error;
  });
  const { categories } = View.parse(view);
  const named = categories
    .flatMap(({ files = [] }) => files)
    .filter(({ name, size }) => name === file.name && (size ?? file.bytes.length) === file.bytes.length);
  for (const { id } of named) {
    const what = 'GET employees/{id}/files/{fileId}';
    const { body } = await api.send({ what, method: 'GET', path: `${place}/${id}`, accept: '*/*', signal });
    if (body.equals(file.bytes)) return true;
  }
  return false;
}
