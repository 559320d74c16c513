import { columnsOf, gridStep } from '#lib/grid-keys.ts'

/** The picture to which a key leads from the focused one, among those of all months that are there. */
export function photoAfter(event: KeyboardEvent, grid: HTMLElement): HTMLElement | undefined {
  const photos = [...grid.querySelectorAll<HTMLElement>('button[data-photo]')]
  const present = photos.indexOf(document.activeElement as HTMLElement)
  if (present < 0 || event.ctrlKey || event.metaKey || event.altKey) return undefined
  const month = photos[present]?.closest('section')
  const cells = photos.filter((photo) => photo.closest('section') === month).map(placeOf)
  const step = gridStep(event.key, present, photos.length, columnsOf(cells))
  return step === undefined ? undefined : photos[step]
}

const placeOf = (photo: HTMLElement) => ({ offsetTop: photo.getBoundingClientRect().top })
