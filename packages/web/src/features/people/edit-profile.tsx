import { type Profile, updateMe } from '@kith/protocol'
import { useMutation } from '@tanstack/preact-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import { notify } from '#platform/notices.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { Field } from '#ui/field.tsx'
import { useExplain } from '#ui/problem.tsx'
import { TextArea } from '#ui/text-area.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { hostOf } from './host-of.ts'
import { peopleKey } from './people-keys.ts'
import { profileOf } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'

// The server takes 16 KiB of further members in all.
const longestBio = 5_000

/** Name and self-description of one's own profile. */
export function EditProfile({ profile, onDone }: { readonly profile: Profile; readonly onDone: () => void }) {
  const t = useTexts(peopleTexts)
  const [problem, setProblem] = useState<string>()
  const save = useSave(profile, onDone)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector('input')?.focus(), [])
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget as HTMLFormElement)
    const name = String(given.get('name') ?? '').trim()
    setProblem(name === '' ? t.nameMissing : undefined)
    if (name !== '') save.mutate({ name, bio: String(given.get('bio') ?? '').trim() })
  }
  return (
    <form ref={form} class="stack" noValidate onSubmit={submit}>
      <Field
        label={t.name}
        name="name"
        defaultValue={profile.name}
        maxLength={100}
        autocomplete="name"
        problem={problem}
      />
      <TextArea
        label={profile.type === 'community' ? t.description : t.bio}
        hint={t.bioHint}
        name="bio"
        defaultValue={typeof profile.x?.bio === 'string' ? profile.x.bio : ''}
        maxLength={longestBio}
        rows={4}
        dir="auto"
      />
      <div class="row">
        <Button kind="primary" type="submit" isBusy={save.isPending}>
          {t.save}
        </Button>
        <Button kind="quiet" onClick={onDone}>
          {t.cancel}
        </Button>
      </div>
    </form>
  )
}

function useSave(profile: Profile, onDone: () => void) {
  const t = useTexts(peopleTexts)
  const explain = useExplain()
  const { queryKey } = profileOf(profile.idTag)
  return useMutation({
    mutationFn: ({ name, bio }: { name: string; bio: string }) =>
      // What other programs keep in `x` stays.
      hostOf(profile.idTag).call(updateMe, { body: { name, x: { ...profile.x, bio } } }),
    onSuccess: (_, { name, bio }) => {
      queries.setQueryData(queryKey, { ...profile, name, x: { ...profile.x, bio } })
      void queries.invalidateQueries({ queryKey: peopleKey })
      notify(t.saved)
      onDone()
    },
    onError: (error) => notify(`${t.saveFailed} ${explain(error)}`, { kind: 'failed' }),
  })
}
