<?php

declare(strict_types=1);

namespace Askr\Laravel\Tests;

use App\Jobs\PriorityProbe;
use App\Jobs\Probe;
use App\Record;
use DateInterval;
use Illuminate\Queue\Events\JobQueued;
use Illuminate\Support\Facades\DB;
use Illuminate\Support\Facades\Event;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Group;
use RuntimeException;

enum Word: string
{
    case Mail = 'mails';
}

enum Unit
{
    case Mail;
}

/**
 * What a push stores.
 */
final class PushTest extends LaravelTestCase
{
    public function testAJobIsReadyAtOnceAndTheFrameworkAloneLimitsItsAttempts(): void
    {
        $id = $this->queue()->push(new Probe('a'));

        [$job] = $this->jobs();
        $this->assertSame($id, $job['id']);
        $this->assertGreaterThan(0, $id);
        $this->assertSame(PHP_INT_MAX, $job['max_attempts']);
        $this->assertSame([0, 0, null], [$job['priority'], $job['attempts'], $job['reserved_until']]);
        $this->assertSame(1, $this->queue()->pendingSize());
        $this->assertSame(Probe::class, json_decode($job['payload'], true)['displayName']);
    }

    public function testIdsOnlyGrow(): void
    {
        $ids = array_map(fn (): int => $this->queue()->push(new Probe('a')), range(1, 3));
        $this->queue()->clear();

        $this->assertGreaterThan(max($ids), $this->queue()->push(new Probe('a')));
    }

    #[DataProvider('delays')]
    public function testADelayIsSecondsAnIntervalOrADate(mixed $delay): void
    {
        $delay = is_callable($delay) ? $delay() : $delay;
        $before = time();
        $this->queue()->later($delay, new Probe('a'));

        $available = $this->jobs()[0]['available_at'];
        $this->assertGreaterThanOrEqual($before + 89, $available);
        $this->assertLessThanOrEqual(time() + 90, $available);
        $this->assertSame(1, $this->queue()->delayedSize());
        $this->assertNull($this->queue()->pop());
    }

    /**
     * @return array<string, array{mixed}>
     */
    public static function delays(): array
    {
        return [
            'seconds' => [90],
            'interval' => [new DateInterval('PT1M30S')],
            'date' => [static fn () => now()->addSeconds(90)],
        ];
    }

    public function testADelayOfThePastIsNone(): void
    {
        $this->queue()->later(-5, new Probe('a'));
        $this->queue()->later(now()->subDay(), new Probe('b'));

        $this->assertSame(2, $this->queue()->pendingSize());
    }

    #[DataProvider('queues')]
    public function testAQueueIsAStringOrAnEnum(mixed $queue, string $name): void
    {
        $this->queue()->push(new Probe('a'), '', $queue);
        $this->queue()->later(0, new Probe('b'), '', $queue);
        $this->queue()->pushRaw('{}', $queue);
        $this->queue()->bulk([new Probe('c')], '', $queue);

        $this->assertSame([$name], askr_queue_names());
        $this->assertSame(4, $this->queue()->size($queue));
        $this->assertSame($name, $this->queue()->pop($queue)->getQueue());
        $this->assertSame(4, $this->queue()->clear($queue));
    }

    /**
     * @return array<string, array{mixed, string}>
     */
    public static function queues(): array
    {
        return [
            'none' => [null, 'default'],
            'string' => ['mails', 'mails'],
            'backed enum' => [Word::Mail, 'mails'],
            'unit enum' => [Unit::Mail, 'Mail'],
            'not UTF-8' => ["\xff\x00", "\xff\x00"],
        ];
    }

    public function testARawPayloadIsStoredByteForByte(): void
    {
        $bytes = implode('', array_map('chr', range(0, 255)));
        $this->queue()->pushRaw($bytes, null, ['priority' => 3]);

        $this->assertSame([$bytes, 3], [$this->jobs()[0]['payload'], $this->jobs()[0]['priority']]);
    }

    public function testBulkStoresTheJobsInOrderWithTheirDelaysAndPriorities(): void
    {
        $this->queue()->bulk([
            new Probe('now 1'),
            (new Probe('later'))->delay(60),
            (new PriorityProbe('first'))->with(['level' => 9]),
            new Probe('now 2'),
        ]);

        $this->assertSame(4, $this->queue()->size());
        $this->assertSame(1, $this->queue()->delayedSize());
        $this->workUntilEmpty();
        $this->assertSame(['first start 1', 'now 1 start 1', 'now 2 start 1'], array_values(
            preg_grep('/ start /', Record::lines()),
        ));
    }

    #[Group('sqlite')]
    public function testBulkIsOneTransactionForEachDelay(): void
    {
        $this->queue()->push(new Probe('opens the database'));
        $before = $this->commits();

        $jobs = array_map(static fn (int $i): Probe => (new Probe("$i"))->delay($i % 2 * 60), range(1, 100));
        $this->queue()->bulk($jobs);

        $this->assertSame(101, $this->queue()->size());
        $this->assertSame(2, $this->commits() - $before);
    }

    public function testBulkTellsListenersAboutEachJob(): void
    {
        $heard = [];
        Event::listen(JobQueued::class, static function (JobQueued $event) use (&$heard): void {
            $heard[$event->id] = $event->job->name;
        });
        $this->queue()->bulk([new Probe('a'), (new Probe('b'))->delay(60), new Probe('c')]);

        $stored = array_column($this->jobs(), 'id');
        sort($stored);
        ksort($heard);
        $this->assertSame($stored, array_keys($heard));
        $this->assertEqualsCanonicalizing(['a', 'b', 'c'], array_values($heard));
    }

    public function testAJobDispatchedAfterCommitWaitsForIt(): void
    {
        DB::transaction(function (): void {
            Probe::dispatch('push')->afterCommit();
            Probe::dispatch('later')->delay(60)->afterCommit();
            $this->queue()->bulk([(new Probe('bulk'))->afterCommit(), new Probe('at once')]);

            $this->assertSame(1, $this->queue()->size());
        });

        $this->assertSame([4, 1], [$this->queue()->size(), $this->queue()->delayedSize()]);
    }

    public function testAJobDispatchedAfterCommitIsForgottenWithARollback(): void
    {
        $this->configure(['queue.connections.patient' => ['driver' => 'askr', 'after_commit' => true]]);

        try {
            DB::transaction(function (): void {
                $this->queue('patient')->push(new Probe('push'));
                $this->queue('patient')->bulk([new Probe('bulk')]);
                throw new RuntimeException('roll back');
            });
        } catch (RuntimeException) {
        }

        $this->assertSame(0, $this->queue()->size());
    }

    public function testPriorityComesFromTheJobOrTheConnection(): void
    {
        $this->configure(['queue.connections.urgent' => ['driver' => 'askr', 'priority' => 5]]);

        PriorityProbe::dispatch('9');
        $this->queue()->push((new PriorityProbe('9'))->with(['level' => 9]));
        $this->queue('urgent')->push(new Probe('5'));
        $this->queue('urgent')->later(0, (new PriorityProbe('-1'))->with(['level' => -1]));

        $this->assertSame([0, 9, 5, -1], array_column($this->jobs(), 'priority'));
    }

    /**
     * How many transactions the database's write-ahead log holds: a frame that ends one carries the
     * database's size, others carry 0.
     */
    private function commits(): int
    {
        $wal = file_get_contents("$this->storage/app/askr.sqlite-wal");
        $header = unpack('N8', $wal);
        $commits = 0;
        for ($at = 32; $at < strlen($wal); $at += 24 + $header[3]) {
            $frame = unpack('N4', $wal, $at);
            // Frames of before the log was last started anew carry another salt.
            $commits += (int) ($frame[2] > 0 && $frame[3] === $header[5]);
        }

        return $commits;
    }
}
