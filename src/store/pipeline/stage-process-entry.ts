/**
 * A process of stages: takes documents, answers with what the stages make of them. What it can do harm to is
 * itself.
 */
import { sealIntrinsics } from '../../seal-intrinsics.js';
import { runMingoStage } from './run-mingo-stage.js';
import { STAGES_ARE_READY, type StageAnswer, type StageQuestion } from './stage-question.js';

// A process serves many callers, one after the other.
sealIntrinsics(globalThis);
process.on('message', (question: StageQuestion) => {
  process.send?.(answer(question));
});
// The gateway has gone.
process.on('disconnect', () => process.exit());
process.send?.(STAGES_ARE_READY);

function answer({ stages, maxLength, documents: texts }: StageQuestion): StageAnswer {
  let documents: object[] = texts.map((text) => JSON.parse(text));
  for (const [index, text] of stages.entries()) {
    const stage = JSON.parse(text);
    // A field computed by mingo may be the very object another field is: what a later stage does to one, it
    // would do to both.
    if (index > 0) documents = JSON.parse(JSON.stringify(documents));
    try {
      documents = runMingoStage(stage, documents);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: 'refused', stage: Object.keys(stage)[0] ?? '', reason };
    }
  }
  const made: string[] = [];
  let length = 0;
  for (const document of documents) {
    const text = JSON.stringify(document);
    length += text.length;
    if (length > maxLength) return { kind: 'too much' };
    made.push(text);
  }
  return { kind: 'documents', documents: made };
}
