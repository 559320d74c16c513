import { updateMyCover, updateMyImage } from '@kith/protocol'
import { useMutation } from '@tanstack/preact-query'
import { mediaAccess, profilePictureAddress, reloadPicture } from '#platform/media.ts'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { useExplain } from '#ui/problem.tsx'
import { useTexts } from '#ui/use-texts.ts'
import type { Part } from './crop.ts'
import { hostOf } from './host-of.ts'
import { peopleKey } from './people-keys.ts'
import { peopleTexts } from './people-texts.ts'

// What the server keeps at most; more pixels would only be sent.
const widest = { image: 400, cover: 1920 } as const
const places = { image: updateMyImage, cover: updateMyCover } as const

interface SetPicture {
  readonly place: 'image' | 'cover'
  readonly idTag: string
  readonly onDone: () => void
}

/** Sends the chosen part of a picture as one's own. */
export function useSetPicture({ place, idTag, onDone }: SetPicture) {
  const t = useTexts(peopleTexts)
  const explain = useExplain()
  return useMutation({
    mutationFn: async ({ picture, part }: { picture: HTMLImageElement; part: Part }) => {
      const body = await cut(picture, part, widest[place])
      await hostOf(idTag).upload(places[place], { body }, { contentType: body.type })
      await forgetShown(idTag, place)
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: peopleKey })
      notify(t.pictureSaved)
      onDone()
    },
    onError: (error) => notify(`${t.pictureFailed} ${explain(error)}`, { kind: 'failed' }),
  })
}

async function cut(picture: HTMLImageElement, part: Part, mostWidth: number): Promise<Blob> {
  const canvas = document.createElement('canvas')
  const scale = Math.min(1, mostWidth / part.width)
  canvas.width = Math.max(1, Math.round(part.width * scale))
  canvas.height = Math.max(1, Math.round(part.height * scale))
  const { x, y, width, height } = part
  const context = canvas.getContext('2d')
  // JPEG has no transparency: what shows through would be black.
  if (context) context.fillStyle = '#fff'
  context?.fillRect(0, 0, canvas.width, canvas.height)
  context?.drawImage(picture, x, y, width, height, 0, 0, canvas.width, canvas.height)
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.92))
  if (!blob) throw new Error('the browser made no picture')
  return blob
}

/** The browser keeps a picture for minutes: the same address shows the new one from now on. */
async function forgetShown(idTag: string, place: 'image' | 'cover'): Promise<void> {
  const access = mediaAccess.get()
  if (access === undefined) return
  const forms: Readonly<Record<string, string>>[] = place === 'image' ? [{}, { variant: 'tn' }] : [{}]
  const addresses = forms.map((query) => profilePictureAddress(idTag, access, place, query))
  await Promise.all(addresses.map(reloadPicture))
}
