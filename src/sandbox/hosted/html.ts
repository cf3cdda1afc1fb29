import type { ApiResponse } from '../api-message.ts';

/** Text that may stand in a page as it is: made by the template below, and by nothing else. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Html | string | number | false | null | undefined | readonly Piece[];

/** A piece of a page. What is put in is escaped, unless it is a piece itself; lists are joined, nothing is left out. */
export function html(parts: TemplateStringsArray, ...values: Piece[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(written)));
}

function written(value: Piece): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object' && value !== null) return value.map(written).join('');
  if (value === undefined || value === null || value === false) return '';
  return escaped(String(value));
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Whatever is in these pages, no script runs and no form leads elsewhere. */
const POLICY =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; img-src data:";

/** A whole small page of the kind a candidate sees. */
export function hostedPage(title: string, content: Html, status = 200): ApiResponse {
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="/page/style.css">
</head>
<body class="hosted">
<main>
<h1>${title}</h1>
${content}
<p class="foot">A page of the sandbox: nothing here reaches a real person.</p>
</main>
</body>
</html>
`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  };
  return { status, headers, body: text };
}

/** What is wrong, told where a screen reader says it at once. */
export function alert(message: string | undefined): Html | undefined {
  return message === undefined ? undefined : html`<p class="notice bad" role="alert">${message}</p>`;
}

export function badge(text: string, tone = ''): Html {
  return html`<span class="badge ${tone}">${text.replaceAll('_', ' ').toLowerCase()}</span>`;
}
