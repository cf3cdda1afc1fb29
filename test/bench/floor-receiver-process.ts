// The least that an honest receiver does: check the key, insert the row, answer. The port goes to the parent.
import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';

const [databaseUrl = '', key = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
const wanted = Buffer.from(key);

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const given = Buffer.from(String(request.headers['x-webhook-key']));
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    response.writeHead(401).end();
    return;
  }
  const body = Buffer.concat(chunks);
  const hash = createHash('sha256').update(body).digest('hex');
  await pool.query('insert into floor_inbox (hash, body) values ($1, $2) on conflict (hash) do nothing', [
    hash,
    body.toString(),
  ]);
  response.writeHead(200).end();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);
