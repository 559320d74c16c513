import { uploadFile } from '@kith/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { useTexts } from '#ui/use-texts.ts'
import { messagesTexts } from './messages-texts.ts'

/** A picture or file that goes with the message that is being written. */
export interface Attachment {
  readonly key: string
  readonly name: string
  /** Of the bytes of a picture here; absent for other files. */
  readonly url?: string
  readonly alt: string
  /** Once it is uploaded. */
  readonly fileId?: string
}

// What a message may have attached.
const attachedAtMost = 50

/** The pictures and files of a message, each uploaded as soon as it is chosen. */
export function useAttachments() {
  const t = useTexts(messagesTexts)
  const [attachments, setAttachments] = useState<readonly Attachment[]>([])
  const latest = useRef(attachments)
  latest.current = attachments
  const change = (key: string, more: Partial<Attachment>) =>
    setAttachments((all) => all.map((one) => (one.key === key ? { ...one, ...more } : one)))
  const remove = (key: string) => {
    for (const one of latest.current) if (one.key === key) release(one)
    setAttachments((all) => all.filter((one) => one.key !== key))
  }
  const upload = async (attachment: Attachment, file: File) => {
    try {
      const { fileId } = await uploadFile(client, file, { fileName: file.name })
      change(attachment.key, { fileId })
    } catch {
      remove(attachment.key)
      notify(t.uploadFailed(file.name), { kind: 'failed' })
    }
  }
  const add = (files: FileList | null | undefined) => {
    for (const file of [...(files ?? [])].slice(0, attachedAtMost - latest.current.length)) {
      const key = crypto.randomUUID()
      const isPicture = file.type.startsWith('image/')
      const url = isPicture ? { url: URL.createObjectURL(file) } : {}
      const attachment = { key, name: file.name, alt: '', ...url }
      setAttachments((all) => [...all, attachment])
      void upload(attachment, file)
    }
  }
  const clear = () => {
    latest.current.forEach(release)
    setAttachments([])
  }
  useEffect(() => () => latest.current.forEach(release), [])
  return { attachments, add, remove, clear, describe: (key: string, alt: string) => change(key, { alt }) }
}

function release({ url }: Attachment): void {
  if (url !== undefined) URL.revokeObjectURL(url)
}
