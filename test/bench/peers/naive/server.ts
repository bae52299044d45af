/**
 * The service that tutorials build: Apollo Server, classes of TypeGraphQL, Prisma behind each resolver. It
 * works on the plain tables. Started as a child process with DATABASE_URL and POOL_SIZE; sends `{ url }` once
 * it listens.
 */
import 'reflect-metadata';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  Arg,
  buildSchema,
  Field,
  Float,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
} from 'type-graphql';
import { PrismaClient } from './generated/client.js';

const { DATABASE_URL, POOL_SIZE } = process.env;
const prisma = new PrismaClient({
  adapter: new PrismaPg({ connectionString: DATABASE_URL, max: Number(POOL_SIZE) }, { schema: 'plain' }),
});

@ObjectType()
class Attendance {
  @Field(() => ID) id!: string;
  @Field(() => Date) created!: Date;
  @Field(() => String) student!: string;
  @Field(() => String, { nullable: true }) studentLabel!: string | null;
  @Field(() => String) class!: string;
  @Field(() => String) section!: string;
  @Field(() => String) status!: string;
  @Field(() => String, { nullable: true }) remark!: string | null;
  @Field(() => String, { nullable: true }) markedBy!: string | null;
  @Field(() => String, { nullable: true }) markedByLabel!: string | null;
}

@ObjectType()
class Registration {
  @Field(() => ID) id!: string;
  @Field(() => String) sequence!: string;
  @Field(() => String) name!: string;
  @Field(() => String) class!: string;
  @Field(() => String) section!: string;
  @Field(() => Int, { nullable: true }) rollNo!: number | null;
  @Field(() => String, { nullable: true }) gender!: string | null;
  @Field(() => Date, { nullable: true }) dob!: Date | null;
  @Field(() => String, { nullable: true }) fatherName!: string | null;
  @Field(() => String, { nullable: true }) motherName!: string | null;
  @Field(() => String, { nullable: true }) guardianPhone!: string | null;
  @Field(() => String, { nullable: true }) address!: string | null;
  @Field(() => String, { nullable: true }) session!: string | null;
  @Field(() => Date, { nullable: true }) admittedOn!: Date | null;
  @Field(() => String, { nullable: true }) status!: string | null;
}

@ObjectType()
class CollectedAmount {
  @Field(() => String) day!: string;
  @Field(() => String) feeHead!: string;
  @Field(() => Float) amount!: number;
}

@InputType()
class NewAttendance {
  @Field(() => Date) created!: Date;
  @Field(() => String) student!: string;
  @Field(() => String) class!: string;
  @Field(() => String) section!: string;
  @Field(() => String) status!: string;
  @Field(() => String, { nullable: true }) markedBy?: string;
}

@Resolver()
class SchoolResolver {
  @Query(() => Attendance, { nullable: true })
  attendance(@Arg('id', () => ID) id: string) {
    return prisma.attendance.findUnique({ where: { id } });
  }

  @Query(() => [Attendance])
  attendances(
    @Arg('first', () => Int) take: number,
    @Arg('class', () => String, { nullable: true }) place?: string,
    @Arg('from', () => Date, { nullable: true }) from?: Date,
    @Arg('before', () => Date, { nullable: true }) before?: Date,
  ) {
    return prisma.attendance.findMany({
      where: { class: place, created: { gte: from, lt: before } },
      orderBy: { id: 'asc' },
      take,
    });
  }

  @Query(() => [Registration])
  registrations(@Arg('contains', () => String) contains: string, @Arg('first', () => Int) take: number) {
    return prisma.registration.findMany({
      where: { name: { contains, mode: 'insensitive' } },
      orderBy: { id: 'asc' },
      take,
    });
  }

  @Query(() => [CollectedAmount])
  async collection(@Arg('from', () => Date) from: Date, @Arg('before', () => Date) before: Date) {
    const receipts = await prisma.feeReceipt.findMany({
      where: { status: 'active', date: { gte: from, lt: before } },
      include: { lines: true },
    });
    const collected = new Map<string, CollectedAmount>();
    for (const { date, lines } of receipts) {
      const day = new Date(date.getTime() + 5.5 * 3_600_000).toISOString().slice(0, 10);
      for (const { feeHead, amount } of lines) {
        const key = `${day} ${feeHead}`;
        const known = collected.get(key) ?? { day, feeHead, amount: 0 };
        known.amount += amount.toNumber();
        collected.set(key, known);
      }
    }
    return [...collected.values()];
  }

  @Mutation(() => Attendance)
  createAttendance(@Arg('data', () => NewAttendance) data: NewAttendance) {
    return prisma.attendance.create({ data });
  }

  @Mutation(() => Int)
  async createAttendances(@Arg('data', () => [NewAttendance]) data: NewAttendance[]) {
    const { count } = await prisma.attendance.createMany({ data });
    return count;
  }
}

const schema = await buildSchema({ resolvers: [SchoolResolver], validate: false });
const { url } = await startStandaloneServer(new ApolloServer({ schema }), {
  listen: { port: 0, host: '127.0.0.1' },
});
process.send?.({ url: url.replace(/\/$/, '').replace('localhost', '127.0.0.1') });
process.once('SIGTERM', () => process.exit(0));
