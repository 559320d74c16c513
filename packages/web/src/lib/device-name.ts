// In this order: the later ones claim to be the earlier ones too.
const browsers = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|Chromium|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
] as const

const systems = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMac OS X\b|\bMacintosh\b/],
  ['Linux', /\bLinux\b/],
] as const

/** The browser and the system that a `User-Agent` names; of another program its own words. */
export function deviceOf(userAgent: string): { readonly program: string; readonly system?: string } {
  const browser = browsers.find(([, form]) => form.test(userAgent))?.[0]
  const system = systems.find(([, form]) => form.test(userAgent))?.[0]
  return { program: browser ?? userAgent.slice(0, 80), ...(browser && system ? { system } : {}) }
}
