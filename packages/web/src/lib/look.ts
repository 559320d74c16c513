/** How the app looks to its owner. */
export interface Look {
  readonly scheme: (typeof schemes)[number]
  readonly hasMoreContrast: boolean
  readonly isStill: boolean
  /** In px, where the browser's own size is 16. */
  readonly textSize: (typeof textSizes)[number]
}

export const schemes = ['device', 'light', 'dark'] as const
export const textSizes = [14, 16, 18, 20, 24] as const

/** The look that the settings of an account describe. `theme` holds words: `light` or `dark`, `contrast`, `still`; those of
 * other clients change nothing. Where it names no scheme, `darkMode` may. */
export function readLook(settings: Readonly<Record<string, string | undefined>>): Look {
  const words = (settings.theme ?? '').split(/\s+/)
  const named = words.find((word) => word === 'light' || word === 'dark')
  return {
    scheme: named ?? (settings.darkMode === 'true' ? 'dark' : 'device'),
    hasMoreContrast: words.includes('contrast'),
    isStill: words.includes('still'),
    textSize: nearestSize(Number(settings.fontSize)),
  }
}

function nearestSize(px: number): Look['textSize'] {
  if (Number.isNaN(px)) return 16
  return [...textSizes].sort((a, b) => Math.abs(a - px) - Math.abs(b - px))[0] ?? 16
}

/** The settings that describe a look. */
export function settingsOfLook({ scheme, hasMoreContrast, isStill, textSize }: Look) {
  const words = [
    scheme === 'device' ? '' : scheme,
    hasMoreContrast ? 'contrast' : '',
    isStill ? 'still' : '',
  ].filter((word) => word !== '')
  return { theme: words.join(' ') || 'default', darkMode: scheme === 'dark', fontSize: textSize as number }
}
