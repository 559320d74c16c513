import type { App } from './hosted-app.ts'

/** Gives the page the language, theme and contrast of the host, now and when they change: `lang`, `data-theme`, `data-contrast` and
 * the style `color-scheme` of the root element. */
export function followLook(app: App): void {
  apply(app)
  app.onChange(apply)
}

function apply({ language, theme }: App): void {
  const root = document.documentElement
  root.lang = language
  root.dataset.theme = theme.scheme
  root.dataset.contrast = theme.contrast
  // With it scroll bars, form controls and `light-dark()` follow as well.
  root.style.colorScheme = theme.scheme
}
