<?php

declare(strict_types=1);

namespace Askr\Laravel\Tests;

use App\Jobs\LongProbe;
use App\Jobs\Probe;
use App\Record;
use PHPUnit\Framework\Attributes\Group;

/**
 * Workers that die, lose their claim, or are refused by the database: no job is lost, none is doubled.
 */
final class KilledWorkerTest extends LaravelTestCase
{
    public function testTheJobOfAKilledWorkerComesBackByItself(): void
    {
        $this->configure(['queue.connections.askr' => ['driver' => 'askr', 'retry_after' => 2]]);
        Probe::dispatch('a', 'sleep:60 ok');
        $worker = $this->work('--tries=3');
        $this->recorded('a start 1');
        $worker->kill();

        $this->assertSame(1, $this->queue()->size());
        $this->work('--tries=3');
        $this->recorded('a done 2');
        $this->assertSame(['a start 1', 'a start 2', 'a done 2'], Record::lines());
    }

    public function testTheReservationIsThePoppersAndStaysWithTheJob(): void
    {
        $this->configure([
            'queue.connections.long' => ['driver' => 'askr', 'retry_after' => 600],
            'queue.connections.short' => ['driver' => 'askr', 'retry_after' => 1],
        ]);
        Probe::dispatch('long', 'sleep:60')->onConnection('short');
        $this->work('long');
        $this->recorded('long start 1');

        // A worker with a shorter retry_after looks all the while, and takes what comes after.
        $this->work('short', '--tries=5');
        Probe::dispatch('next', 'sleep:3 ok')->onConnection('long');
        $this->recorded('next start 1');
        $this->work('short', '--tries=5');
        $this->recorded('next start 2');

        $this->assertNotContains('long start 2', Record::lines());
    }

    /**
     * Workers do nothing but fail jobs, and are killed at whatever moment. Each job is then in the queue or
     * among the dead letters.
     */
    public function testAWorkerKilledWhileFailingLeavesEachJobInOnePlace(): void
    {
        $this->configure(['queue.connections.askr' => ['driver' => 'askr', 'retry_after' => 1]]);
        $jobs = array_map(static fn (int $i): Probe => new Probe("$i", 'fail'), range(1, 2000));
        $this->queue()->bulk($jobs);

        for ($kill = 1; $kill <= 15; $kill++) {
            $failed = count($this->deadLetters());
            $worker = $this->work();
            $this->eventually(fn (): bool => count($this->deadLetters()) > $failed, 'the worker fails nothing');
            usleep(random_int(0, 20_000));
            $worker->kill();

            $this->assertSame(2000, $this->queue()->size() + count($this->deadLetters()), "after kill $kill");
        }

        $uuids = [...array_column($this->deadLetters(), 'uuid'), ...array_map(
            static fn (array $job): string => json_decode($job['payload'], true)['uuid'],
            $this->jobs(),
        )];
        $this->assertCount(2000, array_unique($uuids));
    }

    public function testALateWorkerDoesNotAcknowledgeWhatAnotherTookOver(): void
    {
        $this->configure(['queue.connections.askr' => ['driver' => 'askr', 'retry_after' => 1]]);
        Probe::dispatch('a', 'sleep:4 sleep:60');
        $late = $this->work('--tries=5');
        $this->recorded('a start 1');
        $other = $this->work('--tries=5', '--max-jobs=1');
        $this->recorded('a start 2');
        $other->kill();
        $late->signal(SIGTERM);
        $this->assertSame(0, $late->wait());

        $this->assertSame('a done 1', Record::lines()[2]);
        $this->assertSame([2], array_column($this->jobs(), 'attempts'), 'the job is still there');
    }

    public function testAJobKeepsItsReservationThoughItsHandlerNeverYields(): void
    {
        $this->configure(['queue.connections.askr' => ['driver' => 'askr', 'retry_after' => 2]]);
        LongProbe::dispatch('a', 'spin:6');
        $this->work();
        $this->recorded('a start 1');
        $this->work();
        $this->recorded('a done 1');

        $this->eventually(fn (): bool => $this->queue()->size() === 0, 'it was not acknowledged');
        $this->assertSame(['a start 1', 'a done 1'], Record::lines());
    }

    public function testAJobThatLostItsReservationIsLeftToTheOtherWorker(): void
    {
        $this->configure(['queue.connections.askr' => ['driver' => 'askr', 'retry_after' => 3]]);
        $this->queue()->push((new LongProbe('a', 'sleep:8 ok'))->chain([new Probe('next')]));
        $worker = $this->work('--tries=5');
        $this->recorded('a start 1');

        // As if its machine slept: the reservation is over before it could be renewed. The handler goes on
        // long enough for the heartbeat to notice.
        $worker->signal(SIGSTOP);
        $other = $this->work('--tries=5', '--max-jobs=2');
        $this->recorded('a done 2');
        $this->recorded('next done 1');
        $worker->signal(SIGCONT);
        $this->recorded('a done 1');
        $worker->signal(SIGTERM);
        $worker->wait();
        $other->wait();

        $this->assertSame(1, count(Record::times('next start 1')), 'the chain went on once');
        $this->assertSame([0, []], [$this->queue()->size(), $this->deadLetters()]);
        $this->assertStringContainsString('lost its reservation in attempt 1', $this->log());
    }

    public function testAJobThatLostItsReservationDoesNotFailWhileTheOtherWorkerHasIt(): void
    {
        $this->configure(['queue.connections.askr' => ['driver' => 'askr', 'retry_after' => 3]]);
        LongProbe::dispatch('a', 'sleep:8,throw ok');
        $worker = $this->work('--tries=1');
        $this->recorded('a start 1');
        $worker->signal(SIGSTOP);
        $this->work('--tries=5');
        $this->recorded('a done 2');
        $worker->signal(SIGCONT);
        $this->eventually(fn (): bool => str_contains($this->log(), 'a throws in attempt 1'), 'it has not thrown');
        $worker->signal(SIGTERM);
        $worker->wait();

        $this->assertSame(['a start 1', 'a start 2', 'a done 2'], Record::lines());
        $this->assertSame([0, []], [$this->queue()->size(), $this->deadLetters()]);
    }

    #[Group('sqlite')]
    public function testAWorkerThatIsRefusedTheLockConsumesNothingAndGoesOn(): void
    {
        $this->queue()->push(new Probe('a'));
        $lock = $this->database();
        $lock->exec('BEGIN IMMEDIATE');

        $worker = $this->start(['queue:work', '--sleep=0.05', '--tries=1'], ['-d', 'askr.busy_timeout=100']);
        $this->eventually(fn (): bool => str_contains($this->log(), 'BusyException'), 'nothing was reported');
        $this->assertTrue($worker->running(), $worker->output());
        $this->assertSame([], Record::lines());

        $lock->exec('ROLLBACK');
        $this->recorded('a done 1');
        $this->assertTrue($worker->running());
    }

    #[Group('sqlite')]
    public function testARefusedAcknowledgementDoesNotRunTheHandlerAgainAtOnce(): void
    {
        $this->configure(['queue.connections.askr' => ['driver' => 'askr', 'retry_after' => 6]]);
        $this->queue()->push(new Probe('a', 'sleep:1 ok'));
        $this->start(['queue:work', '--sleep=0.05', '--tries=3'], ['-d', 'askr.busy_timeout=100']);
        $this->recorded('a start 1');
        $lock = $this->database();
        $lock->exec('BEGIN IMMEDIATE');
        $this->recorded('a done 1');
        $this->eventually(fn (): bool => str_contains($this->log(), 'BusyException'), 'nothing was reported');
        $lock->exec('ROLLBACK');

        // Not released, not failed: it stays reserved, and comes back when that lapses.
        $this->assertSame([1, []], [$this->queue()->reservedSize(), $this->deadLetters()]);
        $this->recorded('a done 2');
        $this->eventually(fn (): bool => $this->queue()->size() === 0, 'it was not acknowledged');
    }
}
