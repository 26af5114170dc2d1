<?php

declare(strict_types=1);

namespace Askr\Laravel\Tests;

use App\Jobs\EncryptedProbe;
use App\Jobs\LonelyProbe;
use App\Jobs\Probe;
use App\Jobs\UniqueProbe;
use App\Record;
use Illuminate\Queue\Middleware\WithoutOverlapping;
use Illuminate\Support\Facades\Artisan;
use Illuminate\Support\Facades\Bus;
use Illuminate\Support\Facades\Cache;

/**
 * What the framework builds on a queue.
 */
final class FeaturesTest extends LaravelTestCase
{
    public function testAnEncryptedJobIsUnreadableInTheDatabaseAndRuns(): void
    {
        EncryptedProbe::dispatch('a secret name');
        $this->assertStringNotContainsString('a secret name', $this->jobs()[0]['payload']);

        $this->workUntilEmpty();
        $this->assertSame(['a secret name start 1', 'a secret name done 1'], Record::lines());
    }

    public function testAQueuedClosureRuns(): void
    {
        dispatch(Record::writer('closure'));
        $this->workUntilEmpty();

        $this->assertSame(['closure'], Record::lines());
    }

    public function testAUniqueJobIsQueuedOnceUntilItIsDone(): void
    {
        UniqueProbe::dispatch('a', 'throw ok');
        UniqueProbe::dispatch('a');
        UniqueProbe::dispatch('b');
        $this->assertSame(2, $this->queue()->size());

        // Still locked between its attempts.
        $this->work('--tries=3', '--backoff=2');
        $this->recorded('a start 1');
        $this->recorded('b done 1');
        $this->eventually(fn (): bool => $this->queue()->size() === 1, 'it was not acknowledged');
        UniqueProbe::dispatch('a');
        $this->assertSame(1, $this->queue()->size());

        $this->recorded('a done 2');
        $this->eventually(fn (): bool => $this->queue()->size() === 0, 'it was not acknowledged');
        UniqueProbe::dispatch('a');
        $this->recorded('a done 1');
    }

    public function testTheOwnerOfALockSurvivesInThePayload(): void
    {
        // A job hands a lock to a later one, which may only release what is still its own.
        $first = Cache::lock('shared', 60);
        $this->assertTrue($first->get());
        $owner = $first->owner();

        dispatch(Record::releaser('shared', $owner));
        $this->workUntilEmpty();
        $this->assertTrue(Cache::lock('shared', 60)->get());
        dispatch(Record::releaser('shared', $owner));
        $this->workUntilEmpty();

        $this->assertSame(['released', 'not released'], Record::lines());
        $this->assertFalse(Cache::lock('shared', 60)->get());
    }

    public function testAChainRunsInOrderAndStopsAtAFailure(): void
    {
        Bus::chain([new Probe('1'), new Probe('2'), new Probe('3', 'throw'), new Probe('4')])
            ->catch(Record::writer('caught'))
            ->dispatch();
        $this->workUntilEmpty();

        $this->assertSame(
            ['1 start 1', '1 done 1', '2 start 1', '2 done 1', '3 start 1', 'caught', '3 failed RuntimeException'],
            Record::lines(),
        );
        $this->assertSame([0, 1], [$this->queue()->size(), count($this->deadLetters())]);
    }

    public function testABatchIsCountedOnceThoughAWorkerWasKilledMidway(): void
    {
        $this->configure(['queue.connections.askr' => ['driver' => 'askr', 'retry_after' => 2]]);
        Artisan::call('migrate', ['--force' => true]);
        $batch = Bus::batch([new Probe('1'), new Probe('2', 'sleep:60 ok'), new Probe('3')])
            ->then(Record::writer('then'))
            ->finally(Record::writer('finally'))
            ->dispatch();

        $worker = $this->work('--tries=3');
        $this->recorded('2 start 1');
        $worker->kill();
        $this->assertSame(2, Bus::findBatch($batch->id)->pendingJobs);

        $this->work('--tries=3');
        $this->recorded('2 done 2');
        $this->recorded('finally');
        $this->eventually(fn (): bool => $this->queue()->size() === 0, 'a job was not acknowledged');
        $lines = array_count_values(Record::lines());
        $this->assertSame([1, 1], [$lines['then'], $lines['finally']]);
        $this->assertSame([0, 0], [Bus::findBatch($batch->id)->pendingJobs, Bus::findBatch($batch->id)->failedJobs]);
    }

    public function testABatchesFailedJobsAreRetriedByTheirUuids(): void
    {
        Artisan::call('migrate', ['--force' => true]);
        $batch = Bus::batch([new Probe('1'), new Probe('2', 'throw')])
            ->allowFailures()
            ->catch(Record::writer('caught'))
            ->dispatch();
        $this->workUntilEmpty();

        $this->assertContains('caught', Record::lines());
        $this->assertSame(1, Bus::findBatch($batch->id)->failedJobs);
        $this->assertSame([$this->deadLetters()[0]['uuid']], Bus::findBatch($batch->id)->failedJobIds);

        $this->artisan('queue:retry-batch', $batch->id);
        $this->assertSame([1, []], [$this->queue()->size(), $this->deadLetters()]);
    }

    public function testALockWithoutOverlapOfAKilledJobIsFreeAgainWhenItExpires(): void
    {
        $this->configure(['queue.connections.askr' => ['driver' => 'askr', 'retry_after' => 60]]);
        $this->queue()->push((new LonelyProbe('killed', 'sleep:60'))->with(['expireAfter' => 3]));
        $worker = $this->work('--tries=0');
        $this->recorded('killed start 1');
        $worker->kill();

        $this->queue()->push((new LonelyProbe('next'))->with(['expireAfter' => 3]));
        $this->work('--tries=0');
        $this->eventually(fn (): bool => in_array('next', $this->released(), true), 'it did not wait for the lock');
        $this->eventually(
            static fn (): bool => preg_grep('/^next done \d+$/', Record::lines()) !== [],
            'the job did not run, though the lock has expired',
        );
        $this->assertNotContains('next start 1', Record::lines());
    }

    public function testALockWithoutExpiryOfAKilledJobCanBeReleasedByForce(): void
    {
        LonelyProbe::dispatch('killed', 'sleep:60');
        $worker = $this->work('--tries=0');
        $this->recorded('killed start 1');
        $worker->kill();

        LonelyProbe::dispatch('next');
        $this->work('--tries=0');
        $this->eventually(fn (): bool => in_array('next', $this->released(), true), 'it did not wait for the lock');
        Cache::lock((new WithoutOverlapping('lonely'))->getLockKey(new LonelyProbe('any')))->forceRelease();

        $this->eventually(
            static fn (): bool => preg_grep('/^next done \d+$/', Record::lines()) !== [],
            'the job did not run, though the lock is free',
        );
    }

    /**
     * The names of the jobs that were claimed and given back.
     *
     * @return list<string>
     */
    private function released(): array
    {
        $released = array_filter(
            $this->jobs(),
            static fn (array $job): bool => $job['attempts'] > 0 && $job['reserved_until'] === null,
        );

        return array_map(
            static fn (array $job): string => unserialize(json_decode($job['payload'], true)['data']['command'])->name,
            array_values($released),
        );
    }
}
