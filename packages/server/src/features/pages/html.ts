import type { PageLanguage } from './page-language.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}

interface Frame {
  readonly language: PageLanguage
  readonly title: string
  readonly head: string
  readonly bodyAttributes: string
  readonly main: string
}

/** A whole page. All of its parts are HTML. */
export function frame({ language, title, head, bodyAttributes, main }: Frame): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/kith.css">
${head}
</head>
<body${bodyAttributes}>
<main>
${main}
</main>
</body>
</html>
`
}
