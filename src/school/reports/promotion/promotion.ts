/** The input and result types of a promotion in GraphQL. */
import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { LocalDate } from '../../../base/scalars/local-date.js';

export enum RollNumbers {
  ALPHABETICAL = 'alphabetical',
  KEEP = 'keep',
  NONE = 'none',
}
registerEnumType(RollNumbers, {
  name: 'PromotionRollNumbers',
  description: 'The roll numbers of promoted students.',
  valuesConfig: {
    ALPHABETICAL: { description: 'By name, after the greatest number of the section in the new session.' },
    KEEP: { description: 'As they were.' },
    NONE: { description: 'Removed.' },
  },
});

export enum PromotionOutcome {
  PROMOTED = 'promoted',
  STAYED = 'stayed',
  LEFT = 'left',
}
registerEnumType(PromotionOutcome, {
  name: 'PromotionOutcome',
  description: 'What a promotion does with a student.',
  valuesConfig: {
    PROMOTED: { description: 'The student moves to another class.' },
    STAYED: { description: 'The student stays in the class for another session.' },
    LEFT: { description: 'The student leaves the school.' },
  },
});

@InputType({ description: 'Where students go: `toClass`, or `leaves`.' })
class PromotionTargetInput {
  @Field(() => String, { nullable: true, description: 'The class in the new session.' })
  readonly toClass?: string | null;
  @Field(() => String, { nullable: true, description: 'The section. Default: the section of the student.' })
  readonly toSection?: string | null;
  @Field(() => Boolean, { nullable: true, description: 'They have completed the school. Default: false.' })
  readonly leaves?: boolean | null;
}

@InputType({ description: 'A class, or one section of it, and where its students go.' })
export class PromotedClassInput extends PromotionTargetInput {
  @Field(() => String, { description: 'The class they are in.' }) readonly class!: string;
  @Field(() => String, {
    nullable: true,
    description: 'One section. Default: every section without an entry of its own.',
  })
  readonly section?: string | null;
}

@InputType({ description: 'A student who does not go where the class goes.' })
export class PromotionExceptionInput extends PromotionTargetInput {
  @Field(() => ID, { description: '`_id` of the student.' }) readonly studentId!: string;
}

@InputType({ description: 'The classes to promote from a session to the next.' })
export class PromoteStudentsInput {
  @Field(() => String, { description: 'The session they are in, YYYY-YY.' }) readonly fromSession!: string;
  @Field(() => String, { nullable: true, description: 'A later session. Default: the next one.' })
  readonly toSession?: string | null;
  @Field(() => [PromotedClassInput], { description: 'The classes, and where each goes.' })
  readonly classes!: readonly PromotedClassInput[];
  @Field(() => [PromotionExceptionInput], {
    nullable: true,
    description: 'Students of these classes who go elsewhere. One who stays names the present class.',
  })
  readonly exceptions?: readonly PromotionExceptionInput[] | null;
  @Field(() => RollNumbers, { nullable: true, description: 'New roll numbers. Default: ALPHABETICAL.' })
  readonly rollNumbers?: RollNumbers | null;
  @Field(() => LocalDate, {
    nullable: true,
    description: 'The last day of students who leave. Default: the last day of `fromSession`.',
  })
  readonly leftOn?: string | null;
  @Field(() => Boolean, { nullable: true, description: 'Change nothing, and return what would be done.' })
  readonly dryRun?: boolean | null;
}

@ObjectType({ description: 'A student of a promotion: the place before and after.' })
export class PromotedStudent {
  @Field(() => ID, { description: '`_id` of the student.' }) readonly studentId!: string;
  @Field(() => String, { description: 'Admission number.' }) readonly admissionNo!: string;
  @Field(() => String, { description: 'Name.' }) readonly name!: string;
  @Field(() => PromotionOutcome, { description: 'What is done.' }) readonly outcome!: PromotionOutcome;
  @Field(() => String, { description: 'The class before.' }) readonly fromClass!: string;
  @Field(() => String, { description: 'The section before.' }) readonly fromSection!: string;
  @Field(() => Int, { nullable: true, description: 'The roll number before.' })
  readonly fromRollNo!: number | null;
  @Field(() => String, { nullable: true, description: 'The class after; null for one who leaves.' })
  readonly toClass!: string | null;
  @Field(() => String, { nullable: true, description: 'The section after.' })
  readonly toSection!: string | null;
  @Field(() => Int, { nullable: true, description: 'The roll number after.' })
  readonly toRollNo!: number | null;
}

@ObjectType({ description: 'A promotion, done or as it would be done.' })
export class Promotion {
  @Field(() => String, { description: 'For `undoChange`, which takes all of it back.' })
  readonly requestId!: string;
  @Field(() => Boolean, { description: 'Whether nothing was changed.' }) readonly dryRun!: boolean;
  @Field(() => String, { description: 'The session before.' }) readonly fromSession!: string;
  @Field(() => String, { description: 'The session after.' }) readonly toSession!: string;
  @Field(() => Int, { description: 'Students who move to another class.' }) readonly promoted!: number;
  @Field(() => Int, { description: 'Students who stay in their class.' }) readonly stayed!: number;
  @Field(() => Int, { description: 'Students who leave.' }) readonly left!: number;
  @Field(() => [PromotedStudent], { description: 'Every student, by class, section and name.' })
  readonly students!: readonly PromotedStudent[];
}
