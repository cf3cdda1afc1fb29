import { expect, test } from 'vitest';
import { noticeHeaders } from '../../src/http/signed-delivery.ts';

/** The example of the Standard Webhooks libraries' own tests. */
const example = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  body: '{"test": 2432232314}',
  at: new Date(1_614_265_330_000),
};

test('a notification is signed as Standard Webhooks says, with or without the prefix of the secret', () => {
  const { id, body, secret, at } = example;
  const headers = noticeHeaders(id, body, secret, 'notify.secret', at);
  expect(headers).toMatchObject({
    'webhook-id': id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
  expect(noticeHeaders(id, body, secret.replace('whsec_', ''), 'notify.secret', at)).toEqual(headers);
});

test('without a secret there is no signature', () => {
  expect(noticeHeaders('hold_1', '{}', undefined)).not.toHaveProperty('webhook-signature');
});

test.each(['short', 'not base64, though long enough for a key', `whsec_${'A'.repeat(120)}`])(
  'the secret "%s" is rejected without being repeated',
  (secret) => {
    const sign = () => noticeHeaders('hold_1', '{}', secret);
    expect(sign).toThrow(/notify\.secret is not 24 to 64 bytes in base64/);
    expect(sign).not.toThrow(secret);
    expect(() => noticeHeaders('evt_1', '{}', secret, 'events.secret')).toThrow(/events\.secret is not 24 to 64/);
  },
);
